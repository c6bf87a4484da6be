import { openAnimalStore } from "animal-store"
import express from "express"

const store = await openAnimalStore()
const { key } = await store.keys.issue({ plan: "Free" })
const app = express()
app.use("/v1", store.nodeListener) // before express.json()

const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${server.address().port}/v1/pets`)
})
