import process from "node:process"
import { openAnimalStore } from "animal-store"

const addresses = new WeakMap()
const store = await openAnimalStore({
  database: "sqlite:./data/animal-store.db",
  clientAddress: (request) => addresses.get(request),
  trustContentLength: true
})
// For trying it out only: issues a new key at each start.
const { key } = await store.keys.issue({ plan: "Pro" })

const options = { hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000), onListen() {} }
const server = Deno.serve(options, (request, { remoteAddr }) => {
  addresses.set(request, remoteAddr.hostname)
  return store.fetch(request)
})
console.log(`curl -H 'Authorization: Bearer ${key}' 'http://127.0.0.1:${server.addr.port}/v1/pets?limit=10'`)
