import { createServer } from "node:http"
import { OperationError, openAnimalStore } from "animal-store"

const store = await openAnimalStore({
  plans: {
    Starter: { perMinute: 120, perDay: 5_000 },
    Growth: { perMinute: 600, perDay: 50_000 }
  },
  countPer: "account"
})

// The keys of a customer share the limits of its plan.
const customer = { plan: "Starter", account: "acme", metadata: { crm: 7 } }
const { key } = await store.keys.issue({ ...customer, label: "shop" })
await store.keys.issue({ ...customer, label: "back office" })

/** Changes the plan of all keys of an account. */
const changePlan = async (account, plan) => {
  for (const { id, revokedAt } of await store.keys.list({ account })) {
    if (revokedAt === undefined) await store.keys.set(id, { plan })
  }
}
await changePlan("acme", "Growth")

/** Returns what a customer may see: its keys in use, and the usage that they share. */
const usageOf = async ({ account, metadata, plan }) => {
  // A key of your own belongs to no customer.
  if (account === undefined) throw store.error("not_found", "The API key belongs to no account.")
  const keys = (await store.keys.list({ account })).filter(({ revokedAt }) => revokedAt === undefined)
  return { account, metadata, plan, keys: keys.map(({ label }) => label), day: keys[0]?.usage.day }
}

const guard = store.guard({ route: "/usage" })
const server = createServer((request, response) => {
  if (request.url !== "/usage") return store.nodeListener(request, response)
  guard(request, response, async () => {
    response.setHeader("Content-Type", "application/json")
    try {
      response.end(JSON.stringify(await usageOf(request.caller)))
    } catch (thrown) {
      // Without this, a database that is unavailable would end the process.
      const error = thrown instanceof OperationError ? thrown : store.error("service_unavailable")
      response.writeHead(error.status).end(JSON.stringify(error))
    }
  })
})

server.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${server.address().port}/usage`)
})
