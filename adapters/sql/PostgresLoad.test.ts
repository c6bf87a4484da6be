/** Tests that busy nodes cause no deadlocks and open few connections. */
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Databases from "./Databases.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"

const policy: RateLimit.Policy = { plan: { perMinute: 100_000, perDay: 1_000_000 }, ban: undefined }

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const concurrently = { concurrency: "unbounded", discard: true } as const

/** Returns a number that a query on the statistics selects. */
const readNumber = (sql: SqlClient.SqlClient, query: string) =>
  Effect.map(sql.unsafe<{ readonly value: unknown }>(query), ([row]) => Number(row?.value))

/** Counts the connections to the current database, without the connection of the test. */
const countConnections = (sql: SqlClient.SqlClient) =>
  readNumber(
    sql,
    `SELECT count(*) AS value FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'animal-store'`
  )

Databases.describeOn(Databases.postgresAlone, "PostgresRateLimits.consume", () => {
  const NODES = 4
  const KEYS = 12
  const ROUNDS = 40

  /** Counts batches of the same keys on several nodes, each in another order, and returns the number of deadlocks. */
  const countDeadlocks = Effect.fnUntraced(function* (
    database: Databases.Database,
    sql: SqlClient.SqlClient
  ) {
    const count = readNumber(
      sql,
      "SELECT deadlocks AS value FROM pg_stat_database WHERE datname = current_database()"
    )
    const before = yield* count
    yield* Effect.scoped(
      Effect.gen(function* () {
        const nodes = yield* Nodes.openNodes(database, NODES)
        yield* Effect.forEach(
          nodes,
          (services, node) => {
            const { consume } = Context.get(services, RateLimitStore)
            if (consume === undefined) throw new Error("the store has no consume")
            const keys = numbers(KEYS).map((index) => `key ${(index * 5 + node * 3) % KEYS}`)
            const orderedKeys = node % 2 === 0 ? keys : keys.toReversed()
            return Effect.repeat(
              Effect.forEach(orderedKeys, (key) => consume(key, 0, policy), concurrently),
              { times: ROUNDS - 1 }
            )
          },
          concurrently
        )
      })
    )
    // A connection adds its counts to the statistics at the latest when it ends.
    yield* Effect.repeat(Effect.delay(countConnections(sql), "50 millis"), {
      until: (connections) => connections === 0
    })
    return (yield* count) - before
  })

  it.live("causes no deadlock when nodes count the same callers in different orders", () =>
    Effect.gen(function* () {
      const database = yield* Databases.postgresAlone.create
      const sql = yield* Nodes.openClient(database)
      expect(yield* countDeadlocks(database, sql)).toBe(0)
      // The same load causes deadlocks if the function locks rows in the order of the requests.
      const text = yield* Effect.map(
        sql.unsafe<{ readonly value: string }>(
          "SELECT pg_get_functiondef('rate_limit_steps'::regproc) AS value"
        ),
        ([row]) => row?.value ?? ""
      )
      const unsorted = text.replace(/ORDER BY r\.key COLLATE "C", r\.nth\s+LOOP/, "ORDER BY r.nth LOOP")
      expect(unsorted).not.toBe(text)
      yield* sql.unsafe(unsorted)
      expect(yield* countDeadlocks(database, sql)).toBeGreaterThan(0)
    })
  )
})

Databases.describeOn(Databases.postgresAlone, "PostgresBatch", () => {
  /** Two statements in progress for each kind of call; see `CONCURRENCY` in PostgresBatch.ts. */
  const PER_KIND = 2

  it.live(
    "uses at most two connections for 256 concurrent calls of one kind, and at most ten for all five kinds",
    () =>
      Effect.gen(function* () {
        const database = yield* Databases.postgresAlone.create
        const sql = yield* Nodes.openClient(database)
        const services = yield* Nodes.openNode(database, { ...Nodes.longTimeout, keyCacheMs: 0 })
        const pets = Context.get(services, PetRepository)
        const keys = Context.get(services, ApiKeyStore)
        const { consume } = Context.get(services, RateLimitStore)
        if (consume === undefined) throw new Error("the store has no consume")
        const kinds: ReadonlyArray<(index: number) => Effect.Effect<unknown, unknown>> = [
          (index) => pets.find(BigInt(index)),
          (index) => consume(`key ${index}`, 0, policy),
          (index) => pets.page({ limit: 20, status: undefined, after: BigInt(index) }),
          () => pets.insert({ name: "Rex", categoryId: 7n, status: "available" }),
          (index) => keys.findByHash(`hash ${index}`)
        ]
        const load = (usedKinds: typeof kinds) =>
          Effect.forEach(
            numbers(256),
            (index) =>
              Effect.forEach(
                numbers(10),
                (round) => usedKinds[(index + round) % usedKinds.length]?.(index) ?? Effect.void
              ),
            concurrently
          )
        // Idle connections close only after five seconds, so this also counts those that were used before.
        yield* load(kinds.slice(0, 1))
        const ofOne = yield* countConnections(sql)
        expect(ofOne).toBeGreaterThan(0)
        expect(ofOne).toBeLessThanOrEqual(PER_KIND)
        // If the kinds take turns, two connections are enough for all of them.
        yield* load(kinds)
        expect(yield* countConnections(sql)).toBeLessThanOrEqual(PER_KIND * kinds.length)
      })
  )
})
