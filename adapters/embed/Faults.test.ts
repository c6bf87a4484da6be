/** Checks responses while the database is unavailable, and recovery when it is available again. */
import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import * as Net from "node:net"
import * as path from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it, onTestFinished } from "vitest"
import { run } from "../cli/Serve.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import * as FaultyNetwork from "./FaultyNetwork.fixture.ts"
import { type AnimalStoreOptions, openAnimalStore } from "./index.ts"

const TIMEOUT_MS = 600

/** Factor for timeouts, because other tests may run at the same time. */
const SLACK = 3

const CONNECTIONS = 4

/** Returns the path of a new SQLite database. */
const createFile = async (): Promise<string> =>
  (await Databases.createForTest(Databases.sqlite)).address.slice("sqlite:".length)

interface Outcome {
  readonly name: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly tookMs: number
}

/** Sends requests and records which creates were acknowledged and which were rejected. */
class Caller {
  readonly #transport: (path: string, init?: RequestInit) => Promise<Response>
  readonly #key: string
  readonly #acknowledged = new Set<string>()
  readonly #rejected = new Set<string>()
  /** The `Idempotency-Key` of each rejected creation that had one, by the name of the animal. */
  readonly #repeatable = new Map<string, string>()
  #count = 0

  constructor(transport: (path: string, init?: RequestInit) => Promise<Response>, key: string) {
    this.#transport = transport
    this.#key = key
  }

  async send(target: string, init: RequestInit = {}, name = ""): Promise<Outcome> {
    const startedAt = performance.now()
    const headers = new Headers(init.headers)
    headers.set("Authorization", `Bearer ${this.#key}`)
    headers.set("Content-Type", "application/json")
    const response = await this.#transport(target, { ...init, headers })
    const body = await response.text()
    return {
      name,
      status: response.status,
      headers: response.headers,
      body,
      tookMs: performance.now() - startedAt
    }
  }

  async create(): Promise<Outcome> {
    const name = `n${++this.#count}`
    const outcome = await this.#post(name, {})
    if (outcome.status === 201) this.#acknowledged.add(name)
    else this.#rejected.add(name)
    return outcome
  }

  /** Sends a creation with an `Idempotency-Key`, which `repeatRejected` sends again if it is rejected. */
  async createOnce(): Promise<Outcome> {
    const name = `n${++this.#count}`
    const key = `"key of ${name}"`
    const outcome = await this.#post(name, { "Idempotency-Key": key })
    if (outcome.status === 201) this.#acknowledged.add(name)
    else this.#repeatable.set(name, key)
    return outcome
  }

  /** Sends each rejected creation again with its key, and expects 201; returns the number of replays. */
  async repeatRejected(): Promise<number> {
    let replays = 0
    for (const [name, key] of this.#repeatable) {
      let outcome = await this.#post(name, { "Idempotency-Key": key })
      // The first attempt is still under way until its connection is closed.
      for (let attempt = 0; outcome.status === 409 && attempt < 100; attempt++) {
        await sleep(50)
        outcome = await this.#post(name, { "Idempotency-Key": key })
      }
      expect({ name, status: outcome.status }).toEqual({ name, status: 201 })
      expect(outcome.body).toContain(`"name":"${name}"`)
      if (outcome.headers.get("Idempotency-Replayed") === "true") replays++
      this.#acknowledged.add(name)
    }
    this.#repeatable.clear()
    return replays
  }

  #post(name: string, headers: Record<string, string>): Promise<Outcome> {
    const body = `{"name":"${name}","categoryId":1}`
    return this.send("/v1/pets", { method: "POST", body, headers }, name)
  }

  /** Sends `count` requests concurrently: half of them creates, the others lists and gets. */
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

  async status(target: string): Promise<number> {
    return (await this.send(target)).status
  }

  /** Retries until an animal is created; returns the time in milliseconds and the number of failed requests. */
  async recover(): Promise<{ readonly afterMs: number; readonly failed: number }> {
    const startedAt = performance.now()
    let failed = 0
    while (true) {
      const outcome = await this.create()
      if (outcome.status === 201) return { afterMs: performance.now() - startedAt, failed }
      expectUnavailable([outcome])
      failed++
      await sleep(10)
    }
  }

  /** Expects that every acknowledged animal is stored once; returns the number of rejected animals that are stored. */
  async checkStored(): Promise<number> {
    const stored = new Set<string>()
    let target: string | undefined = "/v1/pets?limit=100"
    while (target !== undefined) {
      const page = await this.send(target)
      expect(page.status).toBe(200)
      const pets: ReadonlyArray<{ readonly name: string }> = JSON.parse(page.body)
      for (const { name } of pets) {
        expect(stored.has(name), `${name} is stored only once`).toBe(false)
        stored.add(name)
      }
      target = /^<([^>]+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1]
    }
    for (const name of this.#acknowledged) expect(stored.has(name), `${name} was acknowledged`).toBe(true)
    return [...this.#rejected].filter((name) => stored.has(name)).length
  }
}

/** Expects complete 503 responses within `timeoutMs * SLACK` milliseconds. */
const expectUnavailable = (outcomes: ReadonlyArray<Outcome>, timeoutMs = TIMEOUT_MS): void => {
  for (const { body, headers, status, tookMs } of outcomes) {
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 503,
      body: { code: "service_unavailable", message: expect.any(String), status: 503 }
    })
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8")
    for (const name of ["limit", "remaining", "reset"]) {
      expect(headers.get(`x-ratelimit-${name}`), name).toMatch(/^(0|[1-9][0-9]*)$/)
    }
    expect(headers.get("retry-after")).toBe("5")
    expect(tookMs).toBeLessThan(timeoutMs * SLACK)
  }
}

const expectServed = (outcomes: ReadonlyArray<Outcome>): void => {
  for (const { status } of outcomes) expect([200, 201]).toContain(status)
}

/** Expects that `/livez` responds quickly even if the database is unavailable. */
const expectLive = async (caller: Caller): Promise<void> => {
  const { status, tookMs } = await caller.send("/livez")
  expect(status).toBe(200)
  expect(tookMs).toBeLessThan(100 * SLACK)
}

/** Interval of the readiness probe, in milliseconds. */
const READINESS_MS = 1_000

const expectReadiness = async (caller: Caller, status: number): Promise<void> => {
  const deadline = performance.now() + (READINESS_MS + TIMEOUT_MS) * SLACK
  while ((await caller.status("/readyz")) !== status) {
    expect(performance.now(), `/readyz is not ${status}`).toBeLessThan(deadline)
    await sleep(50)
  }
}

/** Expects a create to succeed within `SLACK` seconds, and then readiness; returns the result of `recover`. */
const expectRecovery = async (
  caller: Caller
): Promise<{ readonly afterMs: number; readonly failed: number }> => {
  const recovery = await caller.recover()
  expect(recovery.afterMs).toBeLessThan(1_000 * SLACK)
  expectServed(await caller.requests(12))
  await expectReadiness(caller, 200)
  return recovery
}

const slowest = (outcomes: ReadonlyArray<Outcome>): number =>
  Math.round(Math.max(...outcomes.map(({ tookMs }) => tookMs)))

/** Opens a store in this process, issues a key with high limits, and creates one animal. */
const open = async (database: string, options: AnimalStoreOptions = {}) => {
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
  expectServed([await caller.create()])
  return { caller, key, store }
}

const holdTransaction = async (database: Databases.Database, ...statements: ReadonlyArray<string>) => {
  const [held, release] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  const transaction = Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          for (const statement of statements) yield* sql.unsafe(statement)
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(release)
        })
      )
    ).pipe(Effect.provide(database.client))
  )
  await Promise.race([transaction, Effect.runPromise(Deferred.await(held))])
  return async () => {
    await Effect.runPromise(Deferred.succeed(release, undefined))
    await transaction
  }
}

const execute = (database: Databases.Database, statement: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(database.client))
  )

Databases.describeOn(Databases.postgres, "a store with a faulty network", () => {
  /** Opens a store through the faulty network, and waits until its connection pool is full. */
  const openOverNetwork = async (options?: AnimalStoreOptions) => {
    const database = await Databases.createForTest(Databases.postgres)
    const url = new URL(database.address)
    const network = await FaultyNetwork.make(url.hostname, Number(url.port === "" ? 5432 : url.port))
    onTestFinished(network.close)
    url.hostname = "127.0.0.1"
    url.port = String(network.port)
    const opened = await open(url.href, options)
    // Runs before the store closes, which would otherwise wait for hanging connections.
    onTestFinished(network.pass)
    // These calls do not share statements, so they open all connections.
    while (network.connections() < CONNECTIONS) {
      await Promise.all(Array.from({ length: CONNECTIONS * 4 }, () => opened.store.keys.list()))
    }
    await opened.caller.recover()
    return { ...opened, database, network }
  }

  it.each([0, 5_000])(
    "returns 503 within the timeout while PostgreSQL is down, with keys cached for %i ms",
    async (keyCacheMs) => {
      const { caller, network } = await openOverNetwork({ keyCacheMs })
      await network.refuse()
      const outcomes = await caller.requests(24)
      expectUnavailable(outcomes)
      await expectLive(caller)
      await expectReadiness(caller, 503)
      expectUnavailable(await caller.requests(8))
      await network.pass()
      const { afterMs, failed } = await expectRecovery(caller)
      expect(await caller.checkStored()).toBe(0)
      console.log(
        `down: 503 in ${slowest(outcomes)} ms, back after ${Math.round(afterMs)} ms, ${failed} failed`
      )
    }
  )

  it.each([1, 10])(
    "returns 503 within the timeout while PostgreSQL hangs (rounds of requests: %i)",
    async (rounds) => {
      const { caller, network } = await openOverNetwork()
      network.hang()
      const outcomes = await caller.requests(24)
      expectUnavailable(outcomes)
      await expectLive(caller)
      await expectReadiness(caller, 503)
      for (let round = 1; round < rounds; round++) expectUnavailable(await caller.requests(8))
      await network.pass()
      const { afterMs, failed } = await expectRecovery(caller)
      // The requests hung while they were counted, so no animal was inserted.
      expect(await caller.checkStored()).toBe(0)
      console.log(
        `hung: 503 in ${slowest(outcomes)} ms, back after ${Math.round(afterMs)} ms, ${failed} failed`
      )
    }
  )

  it("responds to all requests in flight when PostgreSQL starts to hang", async () => {
    const { caller, network } = await openOverNetwork()
    const rounds = 6
    // More animals than fit into two insert statements.
    const requests = 200
    let rejected = 0
    for (let round = 0; round < rounds; round++) {
      const pending = Array.from({ length: requests }, () => caller.create())
      // Hangs while the requests are counted, or while the first animals are inserted.
      await (round % 2 === 0 ? sleep(round) : Promise.race(pending))
      network.hang()
      const outcomes = await Promise.all(pending)
      const failed = outcomes.filter(({ status }) => status === 503)
      // A request can take two timeouts: one for its rate limit and one for its operation.
      expectUnavailable(failed, 2 * TIMEOUT_MS)
      expectServed(outcomes.filter(({ status }) => status !== 503))
      rejected += failed.length
      await network.pass()
      await caller.recover()
    }
    expect(rejected).toBeGreaterThan(0)
    // An insert that was sent before the fault may be stored although its response is a 503. Inserts share
    // statements, so this can apply to all of them.
    const stored = await caller.checkStored()
    expect(stored).toBeLessThanOrEqual(rejected)
    console.log(
      `connections hung: ${rejected} of ${rounds * requests} creations got 503; ${stored} of those were stored`
    )
  })

  it("responds to all requests in flight when connections are reset", async () => {
    const { caller, network } = await openOverNetwork()
    let rejected = 0
    for (let round = 0; round < 10; round++) {
      const pending = Array.from({ length: 40 }, () => caller.create())
      await (round % 2 === 0 ? sleep(round * 2) : Promise.race(pending))
      network.cut()
      const outcomes = await Promise.all(pending)
      const failed = outcomes.filter(({ status }) => status === 503)
      expectUnavailable(failed)
      expectServed(outcomes.filter(({ status }) => status !== 503))
      rejected += failed.length
      await caller.recover()
    }
    expect(rejected).toBeGreaterThan(0)
    // As above, rejected inserts may be stored.
    const stored = await caller.checkStored()
    expect(stored).toBeLessThanOrEqual(rejected)
    console.log(`connections cut: ${rejected} of 400 creations got 503; ${stored} of those were stored`)
  })

  it("creates each animal once if creations with an Idempotency-Key are repeated after 503", async () => {
    const { caller, network } = await openOverNetwork()
    const rounds = 6
    const requests = 40
    let rejected = 0
    let replays = 0
    for (let round = 0; round < rounds; round++) {
      const pending = Array.from({ length: requests }, () => caller.createOnce())
      // The fault comes while requests are counted, while the first animals are inserted, or between commits.
      await (round % 3 === 0 ? sleep(round) : Promise.race(pending))
      if (round % 3 === 2) await sleep(round * 3)
      if (round % 2 === 0) network.hang()
      else network.cut()
      const outcomes = await Promise.all(pending)
      const failed = outcomes.filter(({ status }) => status !== 201)
      expectUnavailable(failed, 2 * TIMEOUT_MS)
      rejected += failed.length
      await network.pass()
      await caller.recover()
      replays += await caller.repeatRejected()
    }
    expect(rejected).toBeGreaterThan(0)
    expect(await caller.checkStored()).toBe(0)
    console.log(`repeated: ${rejected} of ${rounds * requests} rejected, ${replays} of them were stored`)
  })

  it("recovers in bounded time after its connections have silently stopped working", async () => {
    const { caller, network } = await openOverNetwork()
    network.blackhole()
    const { afterMs, failed } = await caller.recover()
    // Each dead connection fails one request, and the driver waits five seconds before it closes the connection.
    expect(afterMs).toBeLessThan((5_000 + CONNECTIONS * TIMEOUT_MS) * SLACK)
    // All connections are new from here on.
    for (let round = 0; round < 3; round++) expectServed(await caller.requests(12))
    expect(await caller.checkStored()).toBe(0)
    console.log(`blackholed: back after ${Math.round(afterMs)} ms, ${failed} failed`)
  })

  it("closes in bounded time while PostgreSQL hangs", async () => {
    const { caller, network, store } = await openOverNetwork()
    network.hang()
    const pending = caller.requests(12)
    const startedAt = performance.now()
    await store.close()
    const tookMs = performance.now() - startedAt
    expectUnavailable(await pending)
    expect(tookMs).toBeLessThan(10_000 * SLACK)
    console.log(`closed in ${Math.round(tookMs)} ms`)
  })
})

Databases.describeOn(Databases.postgres, "a store", () => {
  it("returns 503 within the timeout while all connections wait for locks, and recovers after the locks are released", async () => {
    const database = await Databases.createForTest(Databases.postgres)
    const { caller } = await open(database.address)
    const release = await holdTransaction(database, "LOCK TABLE pets, rate_limits, settings")
    const outcomes = [...(await caller.requests(40)), ...(await caller.requests(8))]
    expectUnavailable(outcomes)
    await expectLive(caller)
    await expectReadiness(caller, 503)
    await release()
    const { afterMs, failed } = await expectRecovery(caller)
    expect(await caller.checkStored()).toBe(0)
    console.log(
      `locked: 503 in ${slowest(outcomes)} ms, back after ${Math.round(afterMs)} ms, ${failed} failed`
    )
  })

  it("stores no animal for a create that timed out while it waited for a lock", async () => {
    const database = await Databases.createForTest(Databases.postgres)
    const { caller } = await open(database.address)
    const release = await holdTransaction(database, "LOCK TABLE pets IN SHARE MODE")
    expectUnavailable(await caller.creates(12))
    // Reads still work.
    expectServed([await caller.send("/v1/pets"), await caller.send("/v1/pets/1")])
    await sleep(200)
    await release()
    expectServed(await caller.creates(12))
    expect(await caller.checkStored()).toBe(0)
  })
})

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a store", () => {
    it.each(["pets", "rate_limits", "api_keys", "api_key_secrets"])(
      "returns 503 while the table %s is missing",
      async (table) => {
        const database = await Databases.createForTest(kind)
        const { caller } = await open(database.address, { keyCacheMs: 0 })
        await execute(database, `ALTER TABLE ${table} RENAME TO gone`)
        // The readiness probe detects the missing table without any request.
        await expectReadiness(caller, 503)
        expectUnavailable(await caller.requests(12))
        await expectLive(caller)
        await execute(database, `ALTER TABLE gone RENAME TO ${table}`)
        expectServed(await caller.requests(12))
        await expectReadiness(caller, 200)
        expect(await caller.checkStored()).toBe(0)
      }
    )

    it("stores a create completely or not at all when the client disconnects", async () => {
      const database = await Databases.createForTest(kind)
      const { caller, key, store } = await open(database.address)
      const { port } = await store.listen({ port: 0 })
      for (let count = 0; count < 60; count++) {
        const body = `{"name":"left ${count}","categoryId":1}`
        const socket = Net.connect(port, "127.0.0.1")
        await once(socket, "connect")
        socket.write(
          `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${count % 3 === 0 ? body.slice(0, 9) : body}`
        )
        await sleep(count % 7)
        socket.resetAndDestroy()
      }
      const outcomes = await caller.requests(24)
      expectServed(outcomes)
      const names = (await caller.send("/v1/pets?limit=100")).body.match(/"name":"left [0-9]+"/g) ?? []
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) expect(Number(/[0-9]+/.exec(name)?.[0]) % 3, name).not.toBe(0)
      console.log(
        `${kind.name}: ${names.length} of 40 creates were stored although their clients disconnected`
      )
    })
  })
}

describe("a store on SQLite", () => {
  it("returns 503 within the timeout while another connection locks the file, without blocking the event loop", async () => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    const locker = new DatabaseSync(filename)
    onTestFinished(() => locker.close())
    locker.exec("BEGIN EXCLUSIVE")
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const outcomes = [...(await caller.requests(40)), ...(await caller.requests(40))]
    delay.disable()
    expectUnavailable(outcomes)
    await expectLive(caller)
    await expectReadiness(caller, 503)
    const longestMs = delay.max / 1e6
    expect(longestMs).toBeLessThan(50 * SLACK)
    locker.exec("COMMIT")
    const { afterMs, failed } = await caller.recover()
    expect(failed).toBe(0)
    expectServed(await caller.requests(12))
    await expectReadiness(caller, 200)
    expect(await caller.checkStored()).toBe(0)
    console.log(
      `locked: 503 in ${slowest(outcomes)} ms, event loop at most ${longestMs.toFixed(1)} ms late ` +
        `(99%: ${(delay.percentile(99) / 1e6).toFixed(1)} ms), back after ${Math.round(afterMs)} ms`
    )
  })

  it("does not crash when the file is overwritten with random bytes", async () => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    expectServed(await caller.creates(100))
    fs.writeFileSync(filename, randomBytes(fs.statSync(filename).size + 100_000))
    fs.writeFileSync(`${filename}-wal`, randomBytes(100_000))
    const outcomes = await caller.requests(40)
    const statuses = outcomes.map(({ status }) => status)
    console.log("random bytes:", [...new Set(statuses)])
    for (const outcome of outcomes) if (outcome.status >= 400) expectUnavailable([outcome])
    await expectLive(caller)
    await expectReadiness(caller, 503)
  })
})

Databases.describeOn(Databases.postgres, "a server", () => {
  it("exits with a one-line error within five seconds when the database hangs at startup", async () => {
    const url = new URL((await Databases.createForTest(Databases.postgres)).address)
    const network = await FaultyNetwork.make(url.hostname, Number(url.port === "" ? 5432 : url.port))
    onTestFinished(network.close)
    network.hang()
    url.hostname = "127.0.0.1"
    url.port = String(network.port)
    const startedAt = performance.now()
    const { code, stderr, stdout } = await run(["serve", "--port", "0", "--database", url.href])
    const tookMs = performance.now() - startedAt
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^animal-store: [^\n]*\n$/)
    expect(tookMs).toBeLessThan(5_000 * SLACK)
    console.log(`hung at startup: exited after ${Math.round(tookMs)} ms with ${stderr}`)
  })
})

describe("a store whose SQLite files are deleted or damaged", () => {
  it("returns 503 for creates after the database file is deleted", async () => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    fs.rmSync(filename)
    expectUnavailable(await caller.creates(4))
  })

  it.each([
    ["removed", (log: string) => fs.rmSync(log)],
    ["emptied", (log: string) => fs.truncateSync(log)]
  ] as const)("is not ready and returns 503 after the -wal file is %s", async (_, damage) => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    await expectReadiness(caller, 200)
    damage(`${filename}-wal`)
    // The readiness probe detects the damage without any request.
    await expectReadiness(caller, 503)
    expectUnavailable(await caller.requests(12))
    await expectLive(caller)
  })
})

/** Starts a server in its own process, through a shell command that sets resource limits. */
const serveWithin = async (wrapper: ReadonlyArray<string>, prepare: string, filename: string) => {
  const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url))
  const [command = "sh", ...rest] = [...wrapper, "sh", "-c", `${prepare} && exec "$0" "$@"`]
  const child = spawn(
    command,
    [
      ...[...rest, process.execPath, main, "serve", "--json", "--port", "0"],
      ...["--database", `sqlite:${filename}`, "--issue-key", "Enterprise:perMinute=1000000,perDay=1000000"],
      // The log shares the disk, and a line at startup would allocate a block with room for later lines.
      ...["--log-level", "warn"]
    ],
    { stdio: ["ignore", "pipe", "ignore"], timeout: 60_000, killSignal: "SIGKILL" }
  )
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const [line]: Array<Buffer> = await Promise.race([
    once(child.stdout, "data"),
    ended.then(() => Promise.reject(new Error("exited early")))
  ])
  const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(String(line))
  const caller = new Caller((target, init) => fetch(new URL(target, url), init), keys[0]?.key ?? "")
  return { caller, ended, pid: child.pid ?? 0, stop: () => child.kill("SIGTERM") }
}

/** Fills the disk: sends creates until five single creates in a row fail. Returns all failures. */
const fillDisk = async (caller: Caller): Promise<ReadonlyArray<Outcome>> => {
  const rejected: Array<Outcome> = []
  let count = 100
  let failures = 0
  while (failures < 5) {
    const outcomes = (await caller.creates(count)).filter(({ status }) => status !== 201)
    rejected.push(...outcomes)
    if (outcomes.length > 0) count = 1
    failures = count === 1 && outcomes.length > 0 ? failures + 1 : 0
  }
  return rejected
}

/** Expects that logging works again and first reports the number of lost lines. */
const expectLogRecovery = async (caller: Caller, directory: string): Promise<void> => {
  const database = path.join(directory, "test.db")
  fs.renameSync(database, `${database}.moved`)
  expectUnavailable(await caller.creates(1))
  fs.renameSync(`${database}.moved`, database)
  expectServed(await caller.creates(1))
  expect(fs.readFileSync(path.join(directory, "log"), "utf8")).toMatch(
    /\n\S+ level=WARN message="log lines lost: [1-9][0-9,]*"\n.* message="503 service_unavailable/
  )
}

const succeeds = (command: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0

const canMount = succeeds("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt")
const canSetFileLimit = succeeds("prlimit", "--pid", String(process.pid), "--fsize")

describe("a server on SQLite", () => {
  /** Default database timeout of a server, in milliseconds. */
  const timeoutMs = 1_000

  it.skipIf(!canMount)("returns 503 while the disk is full (skipped if no disk can be mounted)", async () => {
    const filename = await createFile()
    const directory = path.dirname(filename)
    // The log is on the same disk, and its next line needs a new block.
    const mount =
      `mount -t tmpfs -o size=2m none '${directory}' && head -c 500000 /dev/zero > '${directory}/other' && ` +
      `head -c 4096 /dev/zero > '${directory}/log' && exec 2>>'${directory}/log'`
    // Only the shell and its child processes see this mount.
    const { caller, ended, pid, stop } = await serveWithin(["unshare", "-rm"], mount, filename)
    const rejected = await fillDisk(caller)
    expectUnavailable(rejected, timeoutMs)
    await expectLive(caller)
    await expectReadiness(caller, 503)
    expectUnavailable(await caller.creates(8), timeoutMs)
    fs.rmSync(`/proc/${pid}/root${directory}/other`)
    const { afterMs, failed } = await caller.recover()
    await expectReadiness(caller, 200)
    expect(await caller.checkStored()).toBe(0)
    await expectLogRecovery(caller, `/proc/${pid}/root${directory}`)
    stop()
    expect(await ended).toEqual([0, null])
    console.log(
      `disk full: 503 in ${slowest(rejected)} ms, back after ${Math.round(afterMs)} ms, ${failed} failed`
    )
  })

  it.skipIf(!canSetFileLimit)(
    "returns 503 while files have reached their size limit (skipped if the limit cannot be set)",
    async () => {
      const filename = await createFile()
      // The log file already has the maximum size.
      const log = path.join(path.dirname(filename), "log")
      fs.writeFileSync(log, Buffer.alloc(2_048 * 1_024))
      const { caller, ended, pid, stop } = await serveWithin(
        [],
        `ulimit -S -f 2048 && exec 2>>'${log}'`,
        filename
      )
      const rejected = await fillDisk(caller)
      expectUnavailable(rejected, timeoutMs)
      await expectLive(caller)
      await expectReadiness(caller, 503)
      expect(succeeds("prlimit", "--pid", String(pid), "--fsize=unlimited:")).toBe(true)
      const { afterMs, failed } = await caller.recover()
      await expectReadiness(caller, 200)
      expect(await caller.checkStored()).toBe(0)
      await expectLogRecovery(caller, path.dirname(filename))
      stop()
      expect(await ended).toEqual([0, null])
      console.log(
        `no growth: 503 in ${slowest(rejected)} ms, back after ${Math.round(afterMs)} ms, ${failed} failed`
      )
    }
  )
})
