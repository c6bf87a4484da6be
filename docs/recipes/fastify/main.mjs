import cors from "@fastify/cors"
import { openAnimalStore } from "animal-store"
import Fastify from "fastify"

const store = await openAnimalStore()
const { key } = await store.keys.issue({ plan: "Free" })
const app = Fastify()
await app.register(cors, { origin: ["https://shop.example"] }) // plugins before the hook
app.addHook("onRequest", (request, reply, next) => {
  if (!request.url.startsWith("/v1/")) return next()
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value) // plugins have set it
  }
  store.nodeListener(request.raw, reply.raw)
})

const address = await app.listen({ host: "127.0.0.1", port: process.env.PORT ?? 3000 })
console.log(`curl -H 'Authorization: Bearer ${key}' ${address}/v1/pets`)
