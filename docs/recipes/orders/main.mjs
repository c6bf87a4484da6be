import { defineOperation, openAnimalStore } from "animal-store"

const Order = {
  type: "object",
  properties: {
    id: { type: "string" },
    petId: { type: "integer", minimum: 1 },
    note: { type: "string", maxLength: 200 }
  },
  required: ["id", "petId"],
  additionalProperties: false
}
const { id: _, ...newOrderProperties } = Order.properties

/** @type {Map<string, { id: string, petId: number, note?: string }>} */
const orders = new Map()

const createOrder = defineOperation({
  id: "createOrder",
  method: "POST",
  path: "/orders",
  summary: "Order an animal",
  body: { ...Order, properties: newOrderProperties, required: ["petId"] },
  success: { status: 201, body: Order },
  errors: ["pet_not_available"],
  run: async ({ body, error, pets }) => {
    const pet = await pets.get(BigInt(body.petId))
    if (pet?.status !== "available") throw error("pet_not_available")
    const order = { id: crypto.randomUUID(), ...body }
    orders.set(order.id, order)
    // Relative to /v1/orders, so that it is right wherever the store is mounted.
    return { body: order, headers: { Location: `orders/${order.id}` } }
  }
})

const listOrders = defineOperation({
  id: "listOrders",
  method: "GET",
  path: "/orders",
  query: {
    type: "object",
    properties: {
      limit: { type: "integer", minimum: 1, maximum: 100, description: "Maximum number of orders." }
    }
  },
  success: { body: { type: "array", items: Order } },
  run: ({ query }) => ({ body: [...orders.values()].slice(0, query.limit ?? 20) })
})

const getOrder = defineOperation({
  id: "getOrder",
  method: "GET",
  path: "/orders/{orderId}",
  success: { body: Order },
  errors: ["order_unknown"],
  run: ({ error, params }) => {
    const order = orders.get(params.orderId)
    if (order === undefined) throw error("order_unknown", `There is no order ${params.orderId}.`)
    return { body: order }
  }
})

const store = await openAnimalStore({
  operations: [createOrder, listOrders, getOrder],
  errors: {
    order_unknown: { status: 404, meaning: "There is no such order." },
    pet_not_available: { status: 409, meaning: "The animal does not exist, or it is not available." }
  },
  docs: true
})
const { key } = await store.keys.issue({ plan: "Free" })
await store.pets.create({ name: "Rex", categoryId: 1n })

const { port } = await store.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(
  `curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"petId":1}' ` +
    `http://127.0.0.1:${port}/v1/orders`
)
