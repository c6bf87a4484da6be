import { createServer } from "node:http"
import { openAnimalStore } from "animal-store"
import pino from "pino"

const logger = pino()
const store = await openAnimalStore({
  accessLog: true,
  log: (_, { level, message, fields }) => logger[level]?.(fields, message)
})
const { key } = await store.keys.issue({ plan: "Free" })
const server = createServer(store.nodeListener)

server.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${server.address().port}/v1/pets`)
})
