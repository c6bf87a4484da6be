/** Runs the conformance suite on the first program in implementing-a-storage-adapter.md. */
import { expect, it } from "vitest"
import { openAnimalStore } from "../adapters/embed/index.ts"
import * as Conformance from "../conformance/Conformance.ts"
import { suite } from "../conformance/runners/Vitest.ts"
import { read } from "./Pages.fixture.ts"
import { stores } from "./PromiseStores.fixture.ts"

it("implementing-a-storage-adapter.md begins with the program of PromiseStores.fixture.ts", () => {
  const [, first] = /^```ts\n([\s\S]*?)^```$/m.exec(read("docs/implementing-a-storage-adapter.md")) ?? []
  const program = read("docs/PromiseStores.fixture.ts")
    .replace('"../core/index.ts"', '"animal-store/core"')
    .replace('"../adapters/embed/index.ts"', '"animal-store"')
  expect(first).toBe(program)
})

it("openAnimalStore opens the stores", async () => {
  const store = await openAnimalStore({ database: stores, logLevel: "none" })
  const { id } = await store.pets.create({ name: "Rex", categoryId: 1n })
  const { key } = await store.keys.issue({ plan: "Free" })
  const headers = { Authorization: `Bearer ${key}` }
  const response = await store.fetch(new Request("http://test/v1/pets", { headers }))
  expect([id, response.headers.get("X-RateLimit-Remaining"), await response.json()]).toEqual([
    1n,
    "59",
    [{ id: 1, name: "Rex", categoryId: 1, status: "available" }]
  ])
  await store.close()
})

suite(
  Conformance.ports({
    name: "the documented stores with promises",
    petRepository: stores,
    rateLimitStore: stores,
    apiKeyStore: stores
  }),
  { level: "design" }
)
