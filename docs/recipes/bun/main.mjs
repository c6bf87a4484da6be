import { openAnimalStore } from "animal-store"

const store = await openAnimalStore({
  database: "sqlite:./data/animal-store.db",
  clientAddress: (request) => server.requestIP(request)?.address,
  trustContentLength: true
})
// For trying it out only: issues a new key at each start.
const { key } = await store.keys.issue({ plan: "Pro" })

const server = Bun.serve({ hostname: "127.0.0.1", port: process.env.PORT ?? 3000, fetch: store.fetch })
console.log(`curl -H 'Authorization: Bearer ${key}' 'http://127.0.0.1:${server.port}/v1/pets?limit=10'`)
