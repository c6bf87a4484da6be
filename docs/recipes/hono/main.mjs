import { serve } from "@hono/node-server"
import { openAnimalStore } from "animal-store"
import { Hono } from "hono"

const store = await openAnimalStore()
const { key } = await store.keys.issue({ plan: "Free" })
const app = new Hono()
app.all("/v1/*", (c) => store.fetch(c.req.raw))

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${port}/v1/pets`)
})
