/** Sends requests to a store whose database fails, and checks the responses and what is stored afterwards. */
import { setTimeout as sleep } from "node:timers/promises"
import { expect, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type AnimalStoreOptions, openAnimalStore } from "./index.ts"

/** A short timeout for database calls, because tests wait for it. */
const TIMEOUT_MS = 600

export const CONNECTIONS = 4

/** Maximum time to wait for a condition. Only a failing test takes so long, even on a slow machine. */
const WAIT_MS = 60_000

export interface Outcome {
  readonly name: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Expects complete 503 responses. */
export const expectUnavailable = (outcomes: ReadonlyArray<Outcome>): void => {
  for (const { body, headers, status } of outcomes) {
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 503,
      body: { code: "service_unavailable", message: expect.any(String), status: 503 }
    })
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8")
    for (const name of ["limit", "remaining", "reset"]) {
      expect(headers.get(`x-ratelimit-${name}`), name).toMatch(/^(0|[1-9][0-9]*)$/)
    }
    expect(headers.get("retry-after")).toBe("5")
  }
}

export const isServed = ({ status }: Outcome): boolean => status === 200 || status === 201

/** Expects that each response is a success or a complete 503, and returns the 503 responses. */
export const rejectedOf = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> => {
  const rejected = outcomes.filter((outcome) => !isServed(outcome))
  expectUnavailable(rejected)
  return rejected
}

/** Sends requests and records which creations were acknowledged. */
export class Caller {
  readonly #transport: (path: string, init?: RequestInit) => Promise<Response>
  readonly #key: string
  readonly #acknowledged = new Set<string>()
  /** The `Idempotency-Key` of each rejected creation that had one, by the name of the animal. */
  readonly #repeatable = new Map<string, string>()
  #count = 0

  constructor(transport: (path: string, init?: RequestInit) => Promise<Response>, key: string) {
    this.#transport = transport
    this.#key = key
  }

  async send(target: string, init: RequestInit = {}, name = ""): Promise<Outcome> {
    const headers = new Headers(init.headers)
    headers.set("Authorization", `Bearer ${this.#key}`)
    headers.set("Content-Type", "application/json")
    const response = await this.#transport(target, { ...init, headers })
    return { name, status: response.status, headers: response.headers, body: await response.text() }
  }

  async #post(name: string, headers: Record<string, string>): Promise<Outcome> {
    const body = `{"name":"${name}","categoryId":1}`
    const outcome = await this.send("/v1/pets", { method: "POST", body, headers }, name)
    if (outcome.status === 201) this.#acknowledged.add(name)
    return outcome
  }

  create(): Promise<Outcome> {
    return this.#post(`n${++this.#count}`, {})
  }

  /** Sends a creation with an `Idempotency-Key`, which `repeatRejected` sends again if it is rejected. */
  async createOnce(): Promise<Outcome> {
    const name = `n${++this.#count}`
    const key = `"key of ${name}"`
    const outcome = await this.#post(name, { "Idempotency-Key": key })
    if (outcome.status !== 201) this.#repeatable.set(name, key)
    return outcome
  }

  /** Sends each rejected creation again with its key until it gets 201. */
  async repeatRejected(): Promise<void> {
    for (const [name, key] of this.#repeatable) {
      // The first attempt is still under way until its connection is closed; the response is 409 until then.
      const created = await waitFor(
        () => this.#post(name, { "Idempotency-Key": key }),
        ({ status }) => status !== 409 && status !== 503
      )
      expect({ name, status: created.status }).toEqual({ name, status: 201 })
      expect(created.body).toContain(`"name":"${name}"`)
    }
    this.#repeatable.clear()
  }

  /** Sends `count` requests concurrently: half of them creations, the others lists and gets. */
  requests(count: number): Promise<ReadonlyArray<Outcome>> {
    return Promise.all(
      Array.from({ length: count }, (_, index) => {
        if (index % 4 === 2) return this.send("/v1/pets")
        return index % 4 === 3 ? this.send("/v1/pets/1") : this.create()
      })
    )
  }

  creates(count: number): Promise<ReadonlyArray<Outcome>> {
    return Promise.all(Array.from({ length: count }, () => this.create()))
  }

  /** Waits until an animal is created. All responses before are complete 503 responses. */
  async recover(): Promise<void> {
    await waitFor(
      () => this.create(),
      (outcome) => rejectedOf([outcome]).length === 0
    )
  }

  /** Waits until the service responds to concurrent requests with success, and is ready. */
  async recoverFully(): Promise<void> {
    await waitFor(
      () => this.requests(12),
      (outcomes) => rejectedOf(outcomes).length === 0
    )
    await this.waitForReadiness(200)
  }

  /** Waits until `/readyz` returns a status; `meanwhile` runs before each look. */
  async waitForReadiness(status: number, meanwhile?: () => Promise<void>): Promise<void> {
    await waitFor(
      async () => {
        await meanwhile?.()
        return this.send("/readyz")
      },
      (outcome) => outcome.status === status
    )
  }

  async expectLive(): Promise<void> {
    expect((await this.send("/livez")).status).toBe(200)
  }

  /** Expects that every acknowledged animal is stored once, and that none of `rejected` is stored. */
  async checkStored(rejected: ReadonlyArray<Outcome> = []): Promise<void> {
    const stored: Array<string> = []
    let target: string | undefined = "/v1/pets?limit=100"
    while (target !== undefined) {
      const path: string = target
      const page = await waitFor(() => this.send(path), isServed)
      const pets: ReadonlyArray<{ readonly name: string }> = JSON.parse(page.body)
      stored.push(...pets.map(({ name }) => name))
      target = /^<([^>]+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1]
    }
    const names = new Set(stored)
    expect(names.size, "each animal is stored only once").toBe(stored.length)
    for (const name of this.#acknowledged) expect(names.has(name), `${name} was acknowledged`).toBe(true)
    expect(rejected.filter(({ name }) => names.has(name))).toEqual([])
  }
}

/** Repeats `attempt` until its result satisfies the condition, and returns the result. */
const waitFor = async <A>(attempt: () => Promise<A>, isExpected: (result: A) => boolean): Promise<A> => {
  const deadline = performance.now() + WAIT_MS
  while (true) {
    const result = await attempt()
    if (isExpected(result)) return result
    if (performance.now() > deadline) expect.fail(`still ${JSON.stringify(result)} after ${WAIT_MS} ms`)
    await sleep(10)
  }
}

/** Opens a store in this process, issues a key with high limits, and creates one animal. */
export const open = async (database: string, options: AnimalStoreOptions = {}) => {
  const store = await openAnimalStore({
    databaseTimeoutMs: TIMEOUT_MS,
    databaseConnections: CONNECTIONS,
    log: () => undefined,
    ...options,
    database
  })
  onTestFinished(() => store.close())
  const { key } = await store.keys.issue({
    plan: "Enterprise",
    limits: { perMinute: 1_000_000, perDay: 1_000_000 }
  })
  const caller = new Caller(
    (target, init) => store.fetch(new Request(`http://store.test${target}`, init)),
    key
  )
  await caller.recover()
  return { caller, key, store }
}

/** Returns the path of a new SQLite database. */
export const createFile = async (): Promise<string> =>
  (await Databases.createForTest(Databases.sqlite)).address.slice("sqlite:".length)
