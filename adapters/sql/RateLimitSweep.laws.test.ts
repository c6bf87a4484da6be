import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { harsh } from "../../core/limits/RateLimit.arbitrary.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as Databases from "./Databases.fixture.ts"
import * as RateLimitSweep from "./RateLimitSweep.ts"
import * as RateLimits from "./RateLimits.fixture.ts"
import type { SqlCall } from "./SqlCall.ts"

const MINUTE = 60_000
const DAY = 86_400_000
const START = 20_000 * DAY

/** Requests from one caller, one second apart, and whether a sweep precedes them. */
interface Burst {
  readonly key: string
  readonly plan: Plan.Plan
  readonly requests: number
  /** Milliseconds after the previous burst, or a time near midnight or near the time when the state is spent. */
  readonly start: number | "before midnight" | "last moment of the state" | "state spent" | "state swept"
  /** Milliseconds between the timestamp of a request and its arrival. */
  readonly lagMs: number
  readonly isSwept: boolean
}

const burst: fc.Arbitrary<Burst> = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  plan: fc.constantFrom(
    { perMinute: 1, perDay: 3 },
    { perMinute: 1, perDay: 100 },
    { perMinute: 5, perDay: 5 }
  ),
  requests: fc.integer({ min: 1, max: 6 }),
  start: fc.oneof(
    fc.constantFrom(0, 1, 999, 1_000, MINUTE - 1, MINUTE, 6 * MINUTE, DAY - 1, DAY),
    fc.integer({ min: 0, max: 3 * DAY }),
    fc.constantFrom(
      "before midnight" as const,
      "last moment of the state" as const,
      "state spent" as const,
      "state swept" as const
    )
  ),
  lagMs: fc.oneof(fc.constant(0), fc.constant(MINUTE), fc.integer({ min: 0, max: MINUTE })),
  isSwept: fc.boolean()
})

const startOf = (
  start: Burst["start"],
  clock: number,
  state: RateLimit.State | undefined,
  ban: typeof harsh
) => {
  if (typeof start === "number") return clock + start
  if (start === "before midnight") return Math.max(clock, Math.ceil(clock / DAY) * DAY - 3_000)
  if (state === undefined) return clock
  const spentAt = RateLimit.spentAt(state, ban)
  const offset = { "last moment of the state": -1, "state spent": 0, "state swept": MINUTE }[start]
  return Math.max(clock, spentAt + offset)
}

/** Starts the sweep with a fixed time; the returned effect runs one round, from one pause to the next. */
const startSweep = (sql: SqlClient.SqlClient, now: number) =>
  Effect.gen(function* () {
    const pauses = yield* Queue.unbounded<number>()
    const resumes = yield* Queue.unbounded<void>()
    const clock: Clock.Clock = {
      ...(yield* Clock.Clock),
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.succeed(now),
      sleep: (duration) => {
        const ms = Duration.toMillis(duration)
        return ms < MINUTE ? Effect.yieldNow : Effect.andThen(Queue.offer(pauses, ms), Queue.take(resumes))
      }
    }
    const run: SqlCall["run"] = Effect.mapError((cause) => new StoreUnavailable({ retryable: true, cause }))
    yield* Effect.forkScoped(
      Effect.provideService(RateLimitSweep.forever(sql, BanPolicy.standard, run), Clock.Clock, clock)
    )
    expect(yield* Queue.take(pauses)).toBe(MINUTE)
    return Effect.gen(function* () {
      yield* Queue.offer(resumes, undefined)
      expect(yield* Queue.take(pauses)).toBe(MINUTE)
    })
  })

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "RateLimitSweep", () => {
    it.effect("does not change the verdicts of any history", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        const services = yield* Effect.context<never>()
        const outcomes = new Set<RateLimit.Outcome>()
        let deleted = 0
        const law = fc.asyncProperty(
          fc.array(burst, { maxLength: 25, size: "max" }),
          fc.constantFrom(harsh, BanPolicy.standard),
          (bursts, ban) =>
            Effect.gen(function* () {
              yield* sql`DELETE FROM rate_limits`
              const allStates = new Map<string, RateLimit.State>()
              const keptKeys = new Set<string>()
              let clock = START
              for (const { isSwept, key, lagMs, plan, requests, start } of bursts) {
                clock = startOf(start, clock, allStates.get(key), ban)
                if (isSwept) {
                  expect((yield* RateLimitSweep.sweepPage(sql, ban, clock, "")).next).toBe("")
                  for (const known of keptKeys) {
                    const state = allStates.get(known)
                    if (state === undefined || RateLimit.spentAt(state, ban) + MINUTE > clock) continue
                    keptKeys.delete(known)
                    deleted++
                  }
                  // Exactly the spent states are deleted.
                  expect([...(yield* RateLimits.readStates(sql)).keys()]).toEqual([...keptKeys].sort())
                }
                for (let index = 0; index < requests; index++) {
                  if (index > 0) clock += 1_000
                  const now = clock - lagMs
                  const policy = { plan, ban }
                  const [expected, next] = RateLimit.step(allStates.get(key), now, policy)
                  allStates.set(key, next)
                  keptKeys.add(key)
                  expect(yield* RateLimits.count(store, key, now, policy)).toEqual(expected)
                  outcomes.add(expected.outcome)
                }
              }
              expect([...(yield* RateLimits.readStates(sql)).keys()]).toEqual([...keptKeys].sort())
            }).pipe(Effect.runPromiseWith(services))
        )
        yield* Effect.promise(() => fc.assert(law, { numRuns: 15 }))
        expect(deleted).toBeGreaterThan(10)
        expect([...outcomes].sort()).toEqual(["admitted", "banned", "limited"])
      })
    )

    /** Returns a client that runs an effect right before it deletes rows. */
    const interpose = (
      sql: SqlClient.SqlClient,
      concurrent: Effect.Effect<unknown, unknown>
    ): SqlClient.SqlClient =>
      new Proxy(sql, {
        get: (target, name) =>
          name === "unsafe"
            ? (text: string, parameters?: ReadonlyArray<unknown>) =>
                text.startsWith("DELETE")
                  ? Effect.andThen(Effect.orDie(concurrent), target.unsafe(text, parameters))
                  : target.unsafe(text, parameters)
            : Reflect.get(target, name)
      })

    /** Stores the given number of callers, each with one request at the time `START`. */
    const fill = (database: Databases.Database, sql: SqlClient.SqlClient, callers: number) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.flatMap(RateLimits.openNode(database), (store) =>
            RateLimits.count(store, "network:0", START, { plan: Plan.standard.Free, ban: undefined })
          )
        )
        const { decision, from } = sql.onDialectOrElse({
          pg: () => ({
            decision: ", admitted, decided_at",
            from: `generate_series(1, ${callers - 1}) AS n`
          }),
          orElse: () => ({
            decision: "",
            from: `(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${callers - 1}) SELECT n FROM c)`
          })
        })
        const columns = `${RateLimitFields.names.join(", ")}${decision}`
        yield* sql.unsafe(`
          INSERT INTO rate_limits (key, ${columns}) SELECT 'network:' || n, ${columns} FROM ${from}, rate_limits`)
        expect(yield* RateLimits.countRows(sql)).toBe(callers)
      })

    const spent = { plan: { perMinute: 1, perDay: 1 }, ban: undefined }
    const sweepTime = START + 3 * DAY + 60 * MINUTE

    it.effect("does not delete a caller that sends a request between the sweep's read and delete", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        const send = (key: string, now: number) => RateLimits.count(store, key, now, spent)
        for (const change of ["admitted", "admitted late", "limited", "counted again"] as const) {
          yield* Effect.forEach(["a", "b", "c"], (key) => send(key, START))
          const concurrent = {
            admitted: send("b", sweepTime),
            "admitted late": send("b", sweepTime - MINUTE),
            limited: Effect.andThen(send("b", sweepTime), send("b", sweepTime)),
            "counted again": Effect.andThen(
              sql`DELETE FROM rate_limits WHERE key = 'b'`,
              send("b", sweepTime)
            )
          }[change]
          yield* RateLimitSweep.sweepPage(interpose(sql, concurrent), BanPolicy.standard, sweepTime, "")
          expect([change, ...(yield* RateLimits.readStates(sql)).keys()]).toEqual([change, "b"])
          expect((yield* send("b", sweepTime)).outcome).toBe("limited")
          yield* sql`DELETE FROM rate_limits`
        }
      })
    )

    it.effect("does not delete a caller if any field of its state has changed since the read", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        const [, state] = RateLimit.step(undefined, START, spent)
        const fields = ["level", "at", "day", "used", "strikes", "strikesFrom", "strikeAt"] as const
        for (const field of [...fields, "debt", "banLevel", "bannedUntil"] as const) {
          yield* store.modify("a", () => [undefined, state])
          const change = store.modify("a", () => [undefined, { ...state, [field]: state[field] + 1 }])
          yield* RateLimitSweep.sweepPage(interpose(sql, change), BanPolicy.standard, sweepTime, "")
          expect([field, ...(yield* RateLimits.readStates(sql)).keys()]).toEqual([field, "a"])
        }
      })
    )

    it.effect("deletes at most 20,000 states of the previous day in a round, and keeps those of today", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const sql = yield* RateLimits.openClient(database)
        yield* fill(database, sql, 41_000)
        const now = START + DAY + MINUTE
        const store = yield* RateLimits.openNode(database, { maxAnonymousStates: 1_000_000 })
        const policy = { plan: Plan.standard.Free, ban: undefined }
        const today = ["a", "network:5", "network:30000x", "zebra"]
        yield* Effect.forEach(today, (key) => RateLimits.count(store, key, now, policy))
        const round = yield* startSweep(sql, now)
        const remaining: Array<number> = []
        for (let count = 0; count < 4; count++) {
          yield* round
          remaining.push(yield* RateLimits.countRows(sql))
        }
        const removed = remaining.map((rows, index) => (remaining[index - 1] ?? 41_003) - rows)
        // A round reads at most 20,000 rows: 100,000 in five minutes. The fourth round starts again from the first row.
        expect(removed.slice(0, 2).map((rows) => rows > 19_990 && rows <= 20_000)).toEqual([true, true])
        expect(remaining.at(-1)).toBe(4)
        expect([...(yield* RateLimits.readStates(sql)).keys()].sort()).toEqual([...today].sort())
      })
    )

    it.effect("deletes one page of rows by primary key", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const sql = yield* RateLimits.openClient(database)
        yield* fill(database, sql, 20_000)
        yield* sql`ANALYZE rate_limits`
        const plans: Array<string> = []
        const explain = sql.onDialectOrElse({ pg: () => "EXPLAIN", orElse: () => "EXPLAIN QUERY PLAN" })
        const explainingClient = new Proxy(sql, {
          get: (target, name) =>
            name === "unsafe"
              ? (text: string, parameters: ReadonlyArray<unknown> = []) =>
                  Effect.andThen(
                    Effect.map(target.unsafe(`${explain} ${text}`, parameters), (rows) => {
                      plans.push(JSON.stringify(rows))
                    }),
                    target.unsafe(text, parameters)
                  )
              : Reflect.get(target, name)
        })
        yield* RateLimitSweep.sweepPage(explainingClient, BanPolicy.standard, sweepTime, "")
        expect(plans).toHaveLength(1)
        for (const plan of plans) {
          expect(plan).toMatch(/SEARCH rate_limits|Index Scan/)
          expect(plan).not.toMatch(/SCAN rate_limits|Seq Scan/)
        }
        expect(yield* RateLimits.countRows(sql)).toBe(19_800)
      })
    )

    it.effect("deletes spent states of callers with the smallest and the largest plans", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        for (const perMinute of [1, 60, 100_000, Plan.maxRequests]) {
          const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
          yield* RateLimits.count(store, `${perMinute}`, START, policy)
        }
        expect((yield* RateLimitSweep.sweepPage(sql, BanPolicy.standard, sweepTime, "")).next).toBe("")
        expect(yield* RateLimits.countRows(sql)).toBe(0)
      })
    )

    it.effect("sweeps again in the round after a failed round", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        yield* RateLimits.count(store, "a", START, spent)
        const round = yield* startSweep(sql, sweepTime)
        yield* sql`ALTER TABLE rate_limits RENAME TO elsewhere`
        yield* round
        yield* sql`ALTER TABLE elsewhere RENAME TO rate_limits`
        expect(yield* RateLimits.countRows(sql)).toBe(1)
        yield* round
        expect(yield* RateLimits.countRows(sql)).toBe(0)
      })
    )

    it.effect("sweeps for the first time one minute after the node starts", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        yield* TestClock.setTime(sweepTime)
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        yield* RateLimits.count(store, "a", START, spent)
        yield* TestClock.adjust(MINUTE - 1)
        expect(yield* RateLimits.countRows(sql)).toBe(1)
        yield* TestClock.adjust(1)
        const remaining = Effect.andThen(
          TestClock.withLive(Effect.sleep("5 millis")),
          RateLimits.countRows(sql)
        )
        expect(yield* Effect.repeat(remaining, { until: (rows) => rows === 0, times: 12_000 })).toBe(0)
      })
    )
  })
}

Databases.describeOn(Databases.postgres, "RateLimitSweep", () => {
  it.effect("waits for a request that is being counted, and then keeps its caller", () =>
    Effect.gen(function* () {
      const database = yield* Databases.postgres.create
      const store = yield* RateLimits.openNode(database)
      const sql = yield* RateLimits.openClient(database)
      const policy = { plan: Plan.standard.Free, ban: undefined }
      yield* Effect.forEach(["a", "b", "c"], (key) => RateLimits.count(store, key, START, policy))
      const sweepTime = START + 3 * DAY
      const countingStarted = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const countingFiber = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`UPDATE rate_limits SET at = ${sweepTime}, used = 1 WHERE key = 'b'`
            yield* Deferred.succeed(countingStarted, undefined)
            yield* Deferred.await(release)
          })
        )
      )
      yield* Deferred.await(countingStarted)
      const sweepFiber = yield* Effect.forkChild(
        RateLimitSweep.sweepPage(sql, BanPolicy.standard, sweepTime, "")
      )
      const waiting: Effect.Effect<number, SqlError> = Effect.map(
        sql<{ waiting: unknown }>`
          SELECT count(*) AS waiting FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM rate_limits%'`,
        ([row]) => Number(row?.waiting)
      )
      yield* Effect.repeat(Effect.andThen(TestClock.withLive(Effect.sleep("5 millis")), waiting), {
        until: (count) => count > 0,
        times: 12_000
      })
      expect(sweepFiber.pollUnsafe()).toBeUndefined()
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(countingFiber)
      yield* Fiber.join(sweepFiber)
      expect([...(yield* RateLimits.readStates(sql)).keys()]).toEqual(["b"])
    })
  )
})
