/** The service on Bun or Deno, with the keys and the clock that the conformance suite needs. */
import process from "node:process"
import { openAnimalStore } from "animal-store"

let ahead = 0
const now = () => Date.now() + ahead
const store = await openAnimalStore({
  database: process.env.DATABASE,
  now,
  logLevel: "error",
  // The runs in memory test the default, which reads bodies in chunks.
  trustContentLength: process.env.DATABASE !== "memory:"
})

const issue = async (perMinute, perDay) => {
  const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute, perDay } })
  return key
}

const handle = async (request) => {
  const { pathname } = new URL(request.url)
  if (pathname === "/clock/advance") ahead += (await request.json()).ms
  return pathname.startsWith("/clock") ? Response.json({ now: now() }) : store.fetch(request)
}

const options = { hostname: "127.0.0.1", port: Number(process.env.PORT) }
if (process.versions.bun === undefined) globalThis.Deno.serve({ ...options, onListen() {} }, handle)
else globalThis.Bun.serve({ ...options, fetch: handle })
console.log(JSON.stringify([await issue(100_000, 10_000_000), await issue(5, 40), await issue(3, 10_000)]))
