import { OperationError, openAnimalStore } from "animal-store"
import express from "express"

const store = await openAnimalStore({
  errors: {
    order_unknown: { status: 404, meaning: "There is no such order." },
    pet_not_available: { status: 409, meaning: "The animal does not exist, or it is not available." }
  }
})
const orders = new Map()

const app = express()
app.use("/v1/orders", store.guard(), express.json())

app.post("/v1/orders", async (request, response) => {
  const { petId } = request.body ?? {}
  const pet = Number.isSafeInteger(petId) ? await store.pets.get(BigInt(petId)) : undefined
  if (pet?.status !== "available") throw store.error("pet_not_available")
  const order = { id: crypto.randomUUID(), petId, soldTo: request.caller.label }
  orders.set(order.id, order)
  response.status(201).location(`/v1/orders/${order.id}`).json(order)
})

app.get("/v1/orders/:id", (request, response) => {
  const order = orders.get(request.params.id)
  if (order === undefined) throw store.error("order_unknown")
  response.json(order)
})

app.use("/v1", store.nodeListener)

// An error of `store.error` has a `status`, and is encoded as the body of an error of the service.
app.use((error, _request, response, next) => {
  if (!(error instanceof OperationError)) return next(error)
  response.status(error.status).json(error)
})

const { key } = await store.keys.issue({ plan: "Free", label: "shop front" })
await store.pets.create({ name: "Rex", categoryId: 1n })

const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(
    `curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"petId":1}' ` +
      `http://127.0.0.1:${server.address().port}/v1/orders`
  )
})
