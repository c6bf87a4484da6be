/** Checks what becomes of the promises of a program's own stores: results, failures, timeouts and bugs. */
import { describe, expect, it } from "vitest"
import {
  defineOperation,
  InvalidOption,
  type OwnOperation,
  openAnimalStore,
  type Pet,
  Stores,
  StoreUnavailable
} from "./index.ts"

const pet: Pet = { id: 1n, name: "Rex", categoryId: 7n, status: "available" }

/** Opens a store whose animals are read with `find`; everything else works. */
const open = async (
  find: (id: bigint) => Promise<Pet | null | undefined>,
  responses?: Stores.PromiseStores["responses"],
  operations: ReadonlyArray<OwnOperation> = []
) => {
  const keys = new Map<string, Parameters<Stores.PromiseStores["keys"]["insert"]>[0]>()
  const events: Array<string> = []
  const log: Array<string> = []
  const database = Stores.fromPromises(
    async () => ({
      pets: { insert: async () => pet, find, page: async () => [pet] },
      limits: { modify: async (_key, step) => step(undefined)[0] },
      keys: {
        findByHash: async (hash) =>
          [...keys.values()].find(({ secrets }) => secrets[0]?.hash === hash) ?? null,
        insert: async (key) => keys.set(key.id, key),
        insertFirst: async () => false,
        update: async (id, change) => {
          const key = keys.get(id)
          return key === undefined ? undefined : change(key)[0]
        },
        list: async () => Promise.reject(new Error("no test lists the keys")),
        find: async (id) => keys.get(id) ?? null
      },
      responses,
      async close() {
        return events.push("pets" in this ? "closed" : "closed without its store")
      }
    }),
    { timeoutMs: 50 }
  )
  const store = await openAnimalStore({ database, operations, log: (line) => log.push(line) })
  const { id, key } = await store.keys.issue({ plan: "Free" })
  const get = async () =>
    store.fetch(new Request("http://test/v1/pets/1", { headers: { Authorization: `Bearer ${key}` } }))
  return { events, get, id, key, log, store }
}

describe("Stores.fromPromises", () => {
  it.each([undefined, null])("resolves to animals, and to %s for an unknown id", async (none) => {
    const { events, get, id, store } = await open(async (wanted) => (wanted === 1n ? pet : none))
    expect(await (await get()).json()).toEqual({ id: 1, name: "Rex", categoryId: 7, status: "available" })
    expect(await store.pets.get(2n)).toBeUndefined()
    const other = await openAnimalStore({ logLevel: "none" })
    const { key } = await other.keys.issue({ plan: "Free" })
    await other.close()
    expect(await store.keys.verify(key)).toBeUndefined()
    await expect(store.keys.revoke("key_unknown")).rejects.toThrow("does not exist")
    expect(await store.keys.unban(id)).toMatchObject({ id })
    await expect(store.keys.show("key_unknown")).rejects.toThrow("does not exist")
    await store.close()
    expect(events).toEqual(["closed"])
  })

  it("stores the responses of idempotent operations, if the stores have `responses`", async () => {
    const results = new Map<string, string | undefined>()
    const responses: Stores.PromiseStores["responses"] = {
      claim: async ({ key, now }) => {
        const result = results.get(key)
        if (result !== undefined) return { _tag: "Settled", result }
        if (results.has(key)) return { _tag: "Unsettled", since: now }
        results.set(key, undefined)
        return { _tag: "Claimed" }
      },
      settle: async ({ key }, result) => results.set(key, result)
    }
    for (const [given, runs] of [
      [responses, 1],
      [undefined, 2]
    ] as const) {
      let count = 0
      const success = { body: { type: "integer" } } as const
      const run = () => ({ body: ++count })
      const order = defineOperation({
        id: "order",
        method: "POST",
        path: "/orders",
        success,
        idempotent: true,
        run
      })
      const { key, store } = await open(async () => pet, given, [order])
      const headers = { Authorization: `Bearer ${key}`, "Idempotency-Key": "a" }
      const send = async () => store.fetch(new Request("http://test/v1/orders", { method: "POST", headers }))
      expect(await (await send()).text()).toBe("1")
      expect(await (await send()).text()).toBe(String(runs))
      await store.close()
    }
  })

  it.each([
    [
      "rejects with StoreUnavailable",
      503,
      () => Promise.reject(new StoreUnavailable({ retryable: true, cause: "lost" }))
    ],
    ["does not respond in time", 503, () => new Promise<undefined>(() => {})],
    ["rejects with another error", 500, () => Promise.reject(new Error("a bug"))],
    [
      "throws",
      500,
      () => {
        throw new Error("a bug")
      }
    ]
  ])("that %s is a logged %i", async (_, status, find) => {
    const { get, log, store } = await open(find)
    expect((await get()).status).toBe(status)
    expect(log.join("\n")).toMatch(/lost|did not respond within 50 ms|a bug/)
    await store.close()
  })

  it("takes an object, which serves whenever the store is opened", async () => {
    const fails = async (): Promise<never> =>
      Promise.reject(new StoreUnavailable({ retryable: true, cause: "" }))
    const database = Stores.fromPromises({
      pets: { insert: async () => pet, find: async () => pet, page: fails },
      limits: { modify: fails },
      keys: { findByHash: fails, insert: fails, insertFirst: fails, update: fails, list: fails }
    })
    for (const store of [await openAnimalStore({ database }), await openAnimalStore({ database })]) {
      expect(await store.pets.get(1n)).toEqual(pet)
      await store.close()
    }
  })

  it.each([{ timeoutMs: 0 }, { timeoutMs: "1s" }, { timeout: 50 }])("rejects the options %j", (options) => {
    expect(() => Reflect.apply(Stores.fromPromises, undefined, [{}, options])).toThrow(InvalidOption)
  })

  it("is the only other form of the database", async () => {
    // @ts-expect-error an object without methods
    await expect(openAnimalStore({ database: {} })).rejects.toThrow(InvalidOption)
  })
})
