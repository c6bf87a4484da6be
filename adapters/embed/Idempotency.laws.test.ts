/** Checks `Idempotency-Key` on every store: random requests match a model; concurrent requests create one animal. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { AnimalStore } from "./index.ts"
import * as Stores from "./Stores.fixture.ts"

const DAY = 86_400_000
const START = 20_500 * DAY + 9 * 3_600_000

const open = (address: string, now?: () => number): Promise<AnimalStore> =>
  Stores.open({
    database: address,
    databaseTimeoutMs: 20_000,
    ...(now === undefined ? {} : { now })
  })

const issue = async (store: AnimalStore): Promise<string> =>
  (await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 1_000_000, perDay: 1_000_000 } })).key

const create = (store: AnimalStore, secret: string, body: string, key?: string): Promise<Response> =>
  store.fetch(
    new Request("http://store.test/v1/pets", {
      method: "POST",
      headers: {
        Authorization: `Bearer ${secret}`,
        "Content-Type": "application/json",
        ...(key === undefined ? {} : { "Idempotency-Key": key })
      },
      body
    })
  )

/** Sends a request again while another one with its key is in progress (409), as on a slow machine. */
const createAgain = async (
  store: AnimalStore,
  secret: string,
  body: string,
  key: string
): Promise<Response> => {
  const response = await create(store, secret, body, key)
  return response.status === 409 ? createAgain(store, secret, body, key) : response
}

/** Two animals, each in two JSON spellings. */
const spellings = [
  ['{"name":"Rex","categoryId":7}', '{ "categoryId":7.0, "status":"available", "name":"\\u0052ex" }'],
  ['{"name":"Rex","categoryId":9007199254740993}', '{"categoryId":9007199254740993,"name":"Rex"}']
] as const

const step = fc.record({
  caller: fc.nat(1),
  key: fc.option(fc.constantFrom("a", '"a"', '"b c"', "0192-b"), { nil: undefined }),
  animal: fc.nat(1),
  spelling: fc.nat(1),
  waitMs: fc.oneof({ weight: 4, arbitrary: fc.nat(1_000) }, fc.constantFrom(DAY - 1, DAY, DAY + 1))
})

describe.each(Stores.kinds)("Idempotency-Key", (kind) => {
  const { address, missing, name } = kind
  it.skipIf(missing !== undefined)(
    `creates one animal per caller and key within 24 hours ${Stores.titleEnd(kind)}`,
    async () => {
      let now = START
      const store = await open(await address(), () => now)
      const seen = { Inserted: 0, Replayed: 0, Mismatch: 0 }
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const callers = [await issue(store), await issue(store)] as const
          const model = new Map<string, { animal: number; id: number; until: number }>()
          let latest = 0
          for (const { animal, caller, key, spelling, waitMs } of steps) {
            now += waitMs
            const body = spellings[animal]?.[spelling] ?? ""
            const response = await create(store, callers[caller] ?? "", body, key)
            const modelKey = `${caller} ${key === '"a"' ? "a" : key}`
            const known = key === undefined ? undefined : model.get(modelKey)
            const text = await response.text()
            if (known === undefined || known.until <= now) {
              seen.Inserted++
              expect(response.status).toBe(201)
              expect(response.headers.get("Idempotency-Replayed")).toBeNull()
              const { id }: { id: number } = JSON.parse(text)
              expect(id).toBeGreaterThan(latest)
              latest = id
              if (key !== undefined) model.set(modelKey, { animal, id, until: now + DAY })
            } else if (known.animal === animal) {
              seen.Replayed++
              expect(response.status).toBe(201)
              expect(response.headers.get("Idempotency-Replayed")).toBe("true")
              expect(response.headers.get("Location")).toBe(`/v1/pets/${known.id}`)
              expect(JSON.parse(text).id).toBe(known.id)
            } else {
              seen.Mismatch++
              expect([response.status, JSON.parse(text).code]).toEqual([422, "idempotency_key_reused"])
            }
          }
        }),
        { numRuns: name === "memory" ? 50 : 10 }
      )
      expect(Math.min(...Object.values(seen))).toBeGreaterThan(3)
    }
  )

  it.skipIf(missing !== undefined)(
    `creates one animal for concurrent requests with the same key to ${name === "memory" ? "one node" : "two nodes"} ${Stores.titleEnd(kind)}`,
    async () => {
      const database = await address()
      const nodes = await Promise.all(Array.from({ length: name === "memory" ? 1 : 2 }, () => open(database)))
      const [first] = nodes
      if (first === undefined) throw new Error("no node was opened")
      const secret = await issue(first)
      for (let round = 0; round < 5; round++) {
        const responses = await Promise.all(
          Array.from({ length: 16 }, (_, index) =>
            createAgain(nodes[index % nodes.length] ?? first, secret, spellings[0][0], `round-${round}`)
          )
        )
        const bodies = await Promise.all(responses.map((response) => response.text()))
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]))
        expect(new Set(bodies).size).toBe(1)
        const replayed = responses.filter(({ headers }) => headers.has("Idempotency-Replayed"))
        expect(replayed).toHaveLength(15)
      }
      const list = await first.fetch(
        new Request("http://store.test/v1/pets?limit=100", { headers: { Authorization: `Bearer ${secret}` } })
      )
      expect(await list.json()).toHaveLength(5)
    }
  )
})
