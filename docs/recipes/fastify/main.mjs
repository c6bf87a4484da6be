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
  reply.raw.setHeaders(new Map(Object.entries(reply.getHeaders()))) // those that plugins have set
  store.nodeListener(request.raw, reply.raw)
})

const address = await app.listen({ host: "127.0.0.1", port: process.env.PORT ?? 3000 })
console.log(`curl -H 'Authorization: Bearer ${key}' ${address}/v1/pets`)
