/** Checks `Idempotency-Key` on operations of a host, on every store: each key runs the operation at most once. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type AnimalStore, defineOperation, type OwnOperation } from "./index.ts"
import * as Stores from "./Stores.fixture.ts"

const DAY = 86_400_000
const MAX_RUN = 300_000
const START = 20_500 * DAY + 9 * 3_600_000

type Behaviour = "succeeds" | "throws an error" | "has a bug"

const Order = {
  type: "object",
  properties: { n: { type: "integer" }, item: {}, shelf: { type: "string" } },
  required: ["n"]
} as const

/** Creates an operation that counts its runs, and behaves as `behaviour` says. */
const makeOperation = (run: () => Promise<Behaviour>) => {
  const runs = { count: 0 }
  const createOrder = defineOperation({
    id: "createOrder",
    method: "POST",
    path: "/shelves/{shelf}/orders",
    body: { type: "object", properties: { item: { type: "integer" }, note: { type: "string" } } },
    success: { status: 201, body: Order },
    errors: ["sold_out"],
    idempotent: true,
    run: async ({ body, error, params }) => {
      const n = ++runs.count
      const behaviour = await run()
      if (behaviour === "throws an error") throw error("sold_out")
      if (behaviour === "has a bug") throw new Error("the disk is gone")
      return { status: 202, headers: { Location: `/orders/${n}` }, body: { n, ...body, ...params } }
    }
  })
  return { createOrder, runs }
}

/** Creates a promise, and the function that resolves it. */
const makePending = () => {
  let finish: (behaviour: Behaviour) => void = () => {}
  const promise = new Promise<Behaviour>((resolve) => {
    finish = resolve
  })
  return { promise, finish }
}

const open = (database: string, createOrder: OwnOperation, now?: () => number): Promise<AnimalStore> =>
  Stores.open({
    ...{ database, databaseTimeoutMs: 20_000, operations: [createOrder] },
    errors: { sold_out: { status: 409, meaning: "Nothing is left." } },
    ...(now === undefined ? {} : { now })
  })

const issue = async (store: AnimalStore): Promise<string> =>
  (await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 1_000_000, perDay: 1_000_000 } })).key

const send = async (
  store: AnimalStore,
  secret: string,
  path: string,
  body: string,
  key?: string,
  init = {}
) => {
  const headers = {
    ...{ Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
    ...(key === undefined ? {} : { "Idempotency-Key": key })
  }
  const request = new Request(`http://test/v1/shelves/${path}`, { method: "POST", headers, body, ...init })
  const response = await store.fetch(request)
  const text = await response.text()
  return {
    status: response.status,
    location: response.headers.get("Location"),
    isReplayed: response.headers.get("Idempotency-Replayed") === "true",
    text,
    code: /"code":"(\w+)"/.exec(text)?.[1]
  }
}

/** Different requests, each with its path and two encodings of its body. */
const requests = [
  { path: "a/orders", bodies: ['{"item":7,"note":"x"}', '{ "note":"\\u0078", "item":7.0 }'] },
  { path: "a/orders", bodies: ['{"item":8,"note":"x"}', '{"note":"x","item":8}'] },
  { path: "b/orders", bodies: ['{"item":7,"note":"x"}', '{"note":"x","item":7}'] },
  { path: "a/orders?x=1", bodies: ['{"item":7,"note":"x"}', '{"note":"x","item":7}'] }
] as const

const step = fc.record({
  caller: fc.nat(1),
  key: fc.option(fc.constantFrom("a", '"a"', '"b c"'), { nil: undefined }),
  request: fc.nat(3),
  encoding: fc.nat(1),
  behaviour: fc.constantFrom<Behaviour>("succeeds", "succeeds", "throws an error", "has a bug"),
  waitMs: fc.oneof({ weight: 4, arbitrary: fc.nat(1_000) }, fc.constantFrom(DAY - 1, DAY))
})

for (const kind of Stores.kinds) {
  const title = `an idempotent operation of a host ${Stores.titleEnd(kind)}`
  describe.skipIf(kind.missing !== undefined)(title, () => {
    it("runs once per caller and key within 24 hours, unless it throws an error", async () => {
      let now = START
      let behaviour: Behaviour = "succeeds"
      const { createOrder, runs } = makeOperation(async () => behaviour)
      const store = await open(await kind.address(), createOrder, () => now)
      const seen = { ran: 0, replayed: 0, unknown: 0, mismatch: 0 }
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const callers = [await issue(store), await issue(store)]
          const model = new Map<string, { request: number; text: string | undefined; until: number }>()
          for (const given of steps) {
            now += given.waitMs
            behaviour = given.behaviour
            const { bodies, path } = requests[given.request] ?? requests[0]
            const before = runs.count
            const body = bodies[given.encoding] ?? ""
            const got = await send(store, callers[given.caller] ?? "", path, body, given.key)
            const id = `${given.caller} ${given.key === '"a"' ? "a" : given.key}`
            const known = given.key === undefined ? undefined : model.get(id)
            if (known === undefined || known.until <= now) {
              seen.ran++
              expect([runs.count, got.isReplayed]).toEqual([before + 1, false])
              if (behaviour === "succeeds") {
                expect([got.status, got.location]).toEqual([202, `/orders/${runs.count}`])
              } else {
                expect(got.code).toBe(behaviour === "throws an error" ? "sold_out" : "internal_error")
              }
              if (given.key !== undefined && behaviour !== "throws an error") {
                const text = behaviour === "succeeds" ? got.text : undefined
                model.set(id, { request: given.request, text, until: now + DAY })
              }
              continue
            }
            expect(runs.count).toBe(before)
            if (known.request !== given.request) {
              seen.mismatch++
              expect([got.status, got.code]).toEqual([422, "idempotency_key_reused"])
            } else if (known.text === undefined) {
              seen.unknown++
              expect([got.status, got.code]).toEqual([500, "internal_error"])
              expect(got.text).toContain("it is not known whether it had an effect")
            } else {
              seen.replayed++
              const { n } = JSON.parse(known.text)
              expect(got).toMatchObject({ status: 202, text: known.text, isReplayed: true })
              expect(got.location).toBe(`/orders/${n}`)
            }
          }
        }),
        { numRuns: kind.name === "memory" ? 60 : 12 }
      )
      // On databases, there are too few runs to be certain that each outcome occurs.
      if (kind.name === "memory") expect(Math.min(...Object.values(seen))).toBeGreaterThan(3)
    }, 60_000)

    it("runs once for concurrent requests to several nodes", async () => {
      const database = await kind.address()
      const { finish, promise } = makePending()
      const { createOrder, runs } = makeOperation(() => promise)
      const count = kind.name === "memory" ? 1 : 2
      const nodes = await Promise.all(Array.from({ length: count }, () => open(database, createOrder)))
      const [first] = nodes
      if (first === undefined) throw new Error("no node was opened")
      const secret = await issue(first)
      const sendTo = (index: number) =>
        send(nodes[index % count] ?? first, secret, requests[0].path, requests[0].bodies[0], "once")
      const sent = Array.from({ length: 12 }, (_, index) => sendTo(index))
      // All but one end while the operation is running.
      await Promise.all(
        sent.map((response) => Promise.race([response, expect.poll(() => runs.count).toBe(1)]))
      )
      const early = await Promise.any(sent)
      expect([early.status, early.code]).toEqual([409, "idempotency_key_in_use"])
      finish("succeeds")
      const statuses = (await Promise.all(sent)).map(({ isReplayed, status }) => (isReplayed ? 0 : status))
      expect(statuses.filter((status) => status === 202)).toHaveLength(1)
      for (const status of statuses) expect([0, 202, 409]).toContain(status)
      expect(await sendTo(1)).toMatchObject({ status: 202, isReplayed: true })
      expect(runs.count).toBe(1)
    })

    it("does not run again if its process may have ended, and stores its response if it had not", async () => {
      let now = START
      const { finish, promise } = makePending()
      const { createOrder, runs } = makeOperation(() => promise)
      const store = await open(await kind.address(), createOrder, () => now)
      const secret = await issue(store)
      const sendOnce = (init?: RequestInit) =>
        send(store, secret, requests[0].path, requests[0].bodies[0], "once", init)
      const client = new AbortController()
      const disconnected = sendOnce({ signal: client.signal }).catch(() => "disconnected")
      await expect.poll(() => runs.count).toBe(1)
      client.abort()
      now += MAX_RUN - 1
      expect((await sendOnce()).code).toBe("idempotency_key_in_use")
      now += 1
      expect((await sendOnce()).text).toContain("it is not known whether it had an effect")
      finish("succeeds")
      await expect.poll(async () => (await sendOnce()).isReplayed).toBe(true)
      await disconnected
      expect(runs.count).toBe(1)
    })
  })
}

describe("an operation that is not idempotent on its store", () => {
  const documentOf = async (store: AnimalStore) =>
    (await store.fetch(new Request("http://test/openapi.json"))).text()
  const DESCRIPTION = "it is not executed again"

  it("ignores the header, and the document does not mention it", async () => {
    const { createOrder, runs } = makeOperation(async () => "succeeds")
    const operations = [createOrder]
    const errors = { sold_out: { status: 409, meaning: "Nothing is left." } }
    const ignoring = [
      await Stores.open({ operations, errors, idempotencyKeys: false }),
      await Stores.open({ operations: [{ ...createOrder, idempotent: false }], errors })
    ]
    for (const store of ignoring) {
      const before = runs.count
      const secret = await issue(store)
      for (const key of ["a", "a", ""]) {
        const sent = await send(store, secret, requests[0].path, requests[0].bodies[0], key)
        expect(sent).toMatchObject({ status: 202, isReplayed: false })
      }
      expect(runs.count).toBe(before + 3)
      expect(await documentOf(store)).not.toContain(DESCRIPTION)
    }
    const obeying = await Stores.open({ operations, errors })
    expect(await documentOf(obeying)).toContain(DESCRIPTION)
  })

  it("cannot be a GET", async () => {
    const { createOrder } = makeOperation(async () => "succeeds")
    await expect(
      Stores.open({ operations: [{ ...createOrder, method: "GET" }], errors: {} })
    ).rejects.toThrow("createOrder: idempotent is not for GET")
  })
})
