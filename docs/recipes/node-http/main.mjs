import * as http from "node:http"
import { openAnimalStore } from "animal-store"

const store = await openAnimalStore()
const { key } = await store.keys.issue({ plan: "Free" })
const server = http.createServer(store.nodeListener)

server.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${server.address().port}/v1/pets`)
})
