import { spawn } from "node:child_process"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Databases from "./Databases.fixture.ts"
import * as RateLimits from "./RateLimits.fixture.ts"

const MINUTE = 60_000
const DAY = 86_400_000
const NOON = 20_000 * DAY + DAY / 2

type Store = RateLimitStore["Service"]

const free: RateLimit.Policy = { plan: Plan.standard.Free, ban: BanPolicy.standard }
const manyPerDay = (perMinute: number): RateLimit.Policy => ({
  plan: { perMinute, perDay: Plan.maxRequests },
  ban: undefined
})

/** Runs `clients` concurrent clients on the nodes; each sends its requests in sequence. Returns all verdicts. */
const sendConcurrently = (
  nodes: ReadonlyArray<Store>,
  method: RateLimits.CountingMethod,
  clients: number,
  requests: number,
  key: string,
  policy: RateLimit.Policy
) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: clients }, (_, index) => nodes[index % nodes.length]),
      (node) => {
        if (node === undefined) throw new Error("a node is missing")
        return Effect.all(
          Array.from({ length: requests }, () => RateLimits.countingMethods[method](node, key, NOON, policy))
        )
      },
      { concurrency: "unbounded" }
    ),
    (verdicts) => verdicts.flat()
  )

/** Returns the values of `remaining` of the admitted requests in descending order. */
const remainingOf = (verdicts: ReadonlyArray<RateLimit.Verdict>): ReadonlyArray<number> =>
  verdicts
    .filter(({ outcome }) => outcome === "admitted")
    .map((verdict) => verdict.remaining)
    .sort((a, b) => b - a)

/** Returns n − 1, …, 1, 0: the values of `remaining` if each of n requests was counted once. */
const countdown = (limit: number): ReadonlyArray<number> =>
  Array.from({ length: limit }, (_, i) => limit - 1 - i)

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "SqlRateLimitStore", () => {
    const shared = RateLimits.forAllTests(kind, 4)

    it.effect("admits exactly the limit if requests are counted with consume and modify concurrently", () =>
      Effect.gen(function* () {
        const { nodes } = shared()
        const both = yield* Effect.all(
          [
            sendConcurrently(nodes, "modify", 10, 10, "both", manyPerDay(120)),
            sendConcurrently(nodes, "count", 10, 10, "both", manyPerDay(120))
          ],
          { concurrency: "unbounded" }
        )
        expect(remainingOf(both.flat())).toEqual(countdown(120))
      })
    )

    it.effect("counts all concurrent first requests from a new caller on four nodes", () =>
      Effect.gen(function* () {
        const { nodes, sql } = shared()
        const keys = Array.from({ length: 30 }, (_, index) => `new-${index}`)
        const results = yield* Effect.forEach(
          keys,
          (key, index) =>
            sendConcurrently(nodes, index % 3 === 0 ? "modify" : "count", 8, 1, key, manyPerDay(20)),
          { concurrency: "unbounded" }
        )
        for (const verdicts of results) expect(remainingOf(verdicts)).toEqual(countdown(20).slice(0, 8))
        const states = yield* RateLimits.readStates(sql, "new-")
        expect([...states.keys()]).toEqual([...keys].sort())
        expect([...states.values()].map(({ used }) => used)).toEqual(keys.map(() => 8))
      })
    )

    it.effect("keeps minute counts, day counts and bans across restarts", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const policy = {
          plan: { perMinute: 5, perDay: 7 },
          ban: { ...BanPolicy.standard, strikes: 2 }
        }
        let now = NOON
        /** Starts a node, and sends requests after the given pauses. */
        const send = (pauses: ReadonlyArray<number>) =>
          Effect.scoped(
            Effect.gen(function* () {
              const node = yield* RateLimits.openNode(database)
              return yield* Effect.forEach(pauses, (pauseMs) => {
                now += pauseMs
                return Effect.map(RateLimits.count(node, "a", now, policy), ({ outcome, remaining }) => [
                  outcome,
                  remaining
                ])
              })
            })
          )
        const restarts = [
          [0, 0, 0],
          [0, 0, 0],
          [MINUTE],
          [0, ...Array(11).fill(0)],
          [1_000],
          [1_000],
          [59_999],
          [DAY]
        ]
        const results = yield* Effect.forEach(restarts, send)
        expect(results.flat()).toEqual([
          ...[4, 3, 2, 1, 0].map((left) => ["admitted", left]),
          ["limited", 0],
          ["admitted", 1],
          ["admitted", 0],
          // Eleven denials use the slots: eight of the day and three of the remaining tokens. The twelfth is a strike.
          ...Array(12).fill(["limited", 0]),
          ["banned", 0],
          ["banned", 0],
          ["admitted", 4]
        ])
      })
    )
  })
}

Databases.describeOn(Databases.postgres, "SqlRateLimitStore", () => {
  const serverNow = (sql: SqlClient.SqlClient) =>
    Effect.map(
      sql<{ ms: unknown }>`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`,
      ([row]) => Number(row?.ms)
    )
  const readDecision = (sql: SqlClient.SqlClient, key: string) =>
    Effect.map(
      sql<{ at: unknown; decided_at: unknown }>`SELECT at, decided_at FROM rate_limits WHERE key = ${key}`,
      ([row]) => ({ at: Number(row?.at), decidedAt: Number(row?.decided_at) })
    )

  it.effect("uses the clock of the database server, and ignores the given time", () =>
    Effect.gen(function* () {
      const database = yield* Databases.postgres.create
      const node = yield* RateLimits.openNode(database, { clock: "database" })
      const sql = yield* RateLimits.openClient(database)
      const policy = { plan: { perMinute: 2, perDay: 100 }, ban: undefined }
      let earliest = yield* serverNow(sql)
      for (const now of [0, NOON, 9_000_000_000_000, -1, 1]) {
        const verdict = yield* RateLimits.count(node, "a", now, policy)
        const latest = yield* serverNow(sql)
        const { at, decidedAt } = yield* readDecision(sql, "a")
        expect(decidedAt).toBeGreaterThanOrEqual(earliest)
        expect(decidedAt).toBeLessThanOrEqual(latest)
        expect(at).toBe(decidedAt)
        expect(verdict.resetAt * 1000).toBeGreaterThan(earliest)
        expect(verdict.resetAt * 1000).toBeLessThanOrEqual(latest + MINUTE + 1000)
        expect(verdict.retryAfter).toBeLessThanOrEqual(60)
        earliest = decidedAt
      }
      expect((yield* RateLimits.readStates(sql)).get("a")?.used).toBe(2)
    })
  )

  it.effect("timestamps a request after the wait for its locked row, not before", () =>
    Effect.gen(function* () {
      const database = yield* Databases.postgres.create
      const node = yield* RateLimits.openNode(database, { clock: "database" })
      const sql = yield* RateLimits.openClient(database)
      for (const isNew of [false, true]) {
        const key = isNew ? "new" : "known"
        if (!isNew) yield* RateLimits.count(node, key, 0, free)
        const isLocked = yield* Deferred.make<void>()
        const holder = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              if (isNew) {
                yield* sql`
                  INSERT INTO rate_limits (key, level, at, day, used, debt, strikes, strikes_from, strike_at,
                    ban_level, banned_until, admitted, decided_at)
                  SELECT 'new', 0, ms, ms / 86400000, 1, 0, 0, 0, 0, 0, 0, true, ms
                  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) clock`
              } else yield* sql`SELECT 1 FROM rate_limits WHERE key = 'known' FOR UPDATE`
              const from = yield* serverNow(sql)
              yield* Deferred.succeed(isLocked, undefined)
              yield* sql`SELECT pg_sleep(0.3)`
              return [from, yield* serverNow(sql)] as const
            })
          )
        )
        yield* Deferred.await(isLocked)
        const waiting = yield* Effect.forkChild(RateLimits.count(node, key, 0, free))
        const [from, released] = yield* Fiber.join(holder)
        yield* Fiber.join(waiting)
        const { at, decidedAt } = yield* readDecision(sql, key)
        expect(released - from).toBeGreaterThanOrEqual(300)
        expect(decidedAt).toBeGreaterThanOrEqual(released)
        expect(at).toBe(decidedAt)
      }
    })
  )

  it.effect("never uses decreasing timestamps for one caller on four nodes", () =>
    Effect.gen(function* () {
      const database = yield* Databases.postgres.create
      const nodes = yield* RateLimits.openNodes(database, 4, { clock: "database" })
      const sql = yield* RateLimits.openClient(database)
      yield* sql`CREATE TABLE decisions (turn bigint GENERATED ALWAYS AS IDENTITY, at bigint, decided_at bigint, used bigint)`
      yield* sql`
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO decisions (at, decided_at, used) VALUES (NEW.at, NEW.decided_at, NEW.used); RETURN NULL; END'`
      // The row is still locked when the trigger runs, so decisions are recorded in their order.
      yield* sql`CREATE TRIGGER note AFTER INSERT OR UPDATE ON rate_limits FOR EACH ROW EXECUTE FUNCTION note()`
      yield* sendConcurrently(nodes, "count", 40, 10, "hot", manyPerDay(Plan.maxRequests))
      const decisions = yield* sql<{ at: unknown; decided_at: unknown; used: unknown }>`
        SELECT at, decided_at, used FROM decisions ORDER BY turn`
      // Requests that share a statement share an update.
      expect(decisions.length).toBeGreaterThan(40)
      const used = decisions.map((row) => Number(row.used))
      expect(used).toEqual([...new Set(used)].sort((a, b) => a - b))
      expect(used.at(-1)).toBe(400)
      const times = decisions.map((row) => Number(row.decided_at))
      expect(times).toEqual([...times].sort((a, b) => a - b))
      expect(decisions.map((row) => Number(row.at))).toEqual(times)
    })
  )
})

describe("SqlRateLimitStore on SQLite", () => {
  /** Opens a connection that simulates another program. */
  const openOtherProgram = (database: Databases.Database) =>
    Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(database.address.slice("sqlite:".length), { timeout: 0 })),
      (other) => Effect.sync(() => other.close())
    )

  it("admits exactly the limit in two processes that share a file", () =>
    Effect.gen(function* () {
      const database = yield* Databases.sqlite.create
      const filename = database.address.slice("sqlite:".length)
      yield* Effect.scoped(RateLimits.openNode(database))
      const program = `
        import * as Effect from "effect/Effect"
        import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
        import * as RateLimit from "../../core/limits/RateLimit.ts"
        import * as SecureRandom from "effect/crypto/SecureRandom"
        import * as Layer from "effect/Layer"
        import * as Sqlite from "./Sqlite.ts"
        const policy = { plan: { perMinute: 400, perDay: 1000000 }, ban: undefined }
        const use = Effect.gen(function* () {
          const { modify } = yield* RateLimitStore
          process.stdout.write("ready\\n")
          yield* Effect.callback((resume) => void process.stdin.once("data", () => resume(Effect.void)))
          process.stdin.destroy()
          const request = modify("hot", (state) => RateLimit.step(state, ${NOON}, policy))
          const verdicts = yield* Effect.all(
            Array.from({ length: 5 }, () => Effect.all(Array.from({ length: 60 }, () => request))),
            { concurrency: "unbounded" }
          )
          const admitted = verdicts.flat().filter(({ outcome }) => outcome === "admitted")
          process.stdout.write(JSON.stringify(admitted.map(({ remaining }) => remaining)) + "\\n")
        })
        const stores = Sqlite.layer({ filename: ${JSON.stringify(filename)}, timeoutMs: 20000 })
        await Effect.runPromise(Effect.provide(use, Layer.provide(stores, SecureRandom.layerWebCrypto)))`
      const processes = Array.from({ length: 2 }, () => {
        const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
          cwd: import.meta.dirname,
          stdio: ["pipe", "pipe", "inherit"],
          timeout: 120_000
        })
        let output = ""
        const ready = new Promise((resolve) => child.stdout.once("data", resolve))
        child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
          output += chunk
        })
        const finalOutput = new Promise<string>((resolve) => child.once("close", () => resolve(output)))
        return { child, ready, finalOutput }
      })
      yield* Effect.promise(() => Promise.all(processes.map(({ ready }) => ready)))
      for (const { child } of processes) child.stdin.write("go")
      const outputs = yield* Effect.promise(() =>
        Promise.all(processes.map(({ finalOutput }) => finalOutput))
      )
      const remaining = outputs.map(
        (output): ReadonlyArray<number> => JSON.parse(output.split("\n")[1] ?? "")
      )
      expect(remaining.flat().sort((a, b) => b - a)).toEqual(countdown(400))
      // No process used the whole limit, so they shared it.
      expect(remaining.filter((list) => list.length > 0).length).toBeGreaterThan(1)
    }).pipe(Effect.scoped, Effect.runPromise))

  it.effect("writes nothing if a step returns its input state, as during a ban", () =>
    Effect.gen(function* () {
      const database = yield* Databases.sqlite.create
      const node = yield* RateLimits.openNode(database)
      const other = yield* openOtherProgram(database)
      const policy = {
        plan: { perMinute: 1, perDay: 9 },
        ban: { ...BanPolicy.standard, strikes: 1 }
      }
      const send = RateLimits.count(node, "a", NOON, policy)
      yield* Effect.all([send, send, send])
      other.exec("CREATE TABLE writes (n)")
      for (const write of ["INSERT", "UPDATE"]) {
        other.exec(`
          CREATE TRIGGER note_${write} AFTER ${write} ON rate_limits BEGIN INSERT INTO writes VALUES (1); END`)
      }
      const writes = () => other.prepare("SELECT count(*) AS n FROM writes").get()?.n
      const verdicts = yield* Effect.all(
        Array.from({ length: 20 }, () => send),
        { concurrency: "unbounded" }
      )
      expect(new Set(verdicts.map(({ outcome }) => outcome))).toEqual(new Set(["banned"]))
      expect(writes()).toBe(0)
      yield* RateLimits.count(node, "a", NOON + 2 * MINUTE, policy)
      expect(writes()).toBe(1)
    })
  )

  it.effect("does not count a request that is interrupted while another process writes", () =>
    Effect.gen(function* () {
      const database = yield* Databases.sqlite.create
      const node = yield* RateLimits.openNode(database, { timeoutMs: 10_000 })
      const other = yield* openOtherProgram(database)
      other.exec("BEGIN IMMEDIATE")
      const send = (key: string) => Effect.forkChild(RateLimits.count(node, key, NOON, free))
      const [first, interrupted, last] = yield* Effect.all([send("first"), send("gone"), send("last")])
      yield* TestClock.adjust(100)
      yield* Fiber.interrupt(interrupted)
      yield* TestClock.adjust(100)
      expect([first.pollUnsafe(), last.pollUnsafe()]).toEqual([undefined, undefined])
      other.exec("COMMIT")
      yield* TestClock.adjust(25)
      expect((yield* Fiber.join(first)).remaining).toBe(59)
      expect((yield* Fiber.join(last)).remaining).toBe(59)
      const states = yield* RateLimits.readStates(yield* RateLimits.openClient(database))
      expect([...states.keys()]).toEqual(["first", "last"])
    })
  )

  it.effect("does not count a request that timed out while another process was writing", () =>
    Effect.gen(function* () {
      const database = yield* Databases.sqlite.create
      const node = yield* RateLimits.openNode(database, { timeoutMs: 1_000 })
      const other = yield* openOtherProgram(database)
      other.exec("BEGIN IMMEDIATE")
      const failed = yield* Effect.forkChild(Effect.flip(RateLimits.count(node, "a", NOON, free)))
      yield* TestClock.adjust(1_000)
      expect((yield* Fiber.join(failed)).retryable).toBe(true)
      other.exec("COMMIT")
      yield* TestClock.adjust(1_000)
      expect((yield* RateLimits.count(node, "a", NOON, free)).remaining).toBe(59)
    })
  )
})
