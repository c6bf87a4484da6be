/** Opens nodes on one database, counts requests, and reads the stored states. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { consume, RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type { Database, Kind } from "./Databases.fixture.ts"
import type { DatabaseUnusable } from "./DatabaseUnusable.ts"
import * as Nodes from "./Nodes.fixture.ts"
import type { SqlOptions } from "./SqlOptions.ts"

type Store = RateLimitStore["Service"]

/** Opens another node, with its own connections; the test provides the time. */
export const openNode = (
  database: Database,
  options: Partial<SqlOptions> = {}
): Effect.Effect<Store, DatabaseUnusable, Scope.Scope> =>
  Effect.map(Nodes.openNode(database, { clock: "service", ...options }), (services) =>
    Context.get(services, RateLimitStore)
  )

/** Opens several nodes in sequence. */
export const openNodes = (database: Database, count: number, options?: Partial<SqlOptions>) =>
  Effect.forEach(Array.from({ length: count }), () => openNode(database, options))

export const openClient = Nodes.openClient

/**
 * Opens nodes and a client on one database for all tests of the current `describe`, which use different keys. The clock
 * of the nodes stands still, so that they delete no spent states.
 */
export const forAllTests = (kind: Kind, count: number) =>
  Nodes.forAllTests(
    Effect.gen(function* () {
      const database = yield* kind.create
      return { nodes: yield* openNodes(database, count), sql: yield* openClient(database) }
    }).pipe(Effect.provide(TestClock.layer()))
  )

/** Counts a request like the service. */
export const count = (store: Store, key: string, now: number, policy: RateLimit.Policy, cost = 1) =>
  consume(store, key, now, policy, cost)

const modify = (store: Store, key: string, now: number, policy: RateLimit.Policy, cost = 1) =>
  store.modify(key, (state) => RateLimit.step(state, now, policy, cost))

/** The two methods of counting a request. */
export const countingMethods = { count, modify } as const

export type CountingMethod = keyof typeof countingMethods

/** Returns the stored states of callers by key, for keys that start with `prefix` and sort before `prefix~`. */
export const readStates = (
  sql: SqlClient.SqlClient,
  prefix = ""
): Effect.Effect<ReadonlyMap<string, RateLimit.State>, SqlError> =>
  Effect.map(
    sql<{ readonly key: string; readonly [name: string]: unknown }>`
      SELECT * FROM rate_limits WHERE key >= ${prefix} AND key < ${`${prefix}~`} ORDER BY key`,
    (rows) =>
      new Map(
        rows.map((row) => [row.key, RateLimitFields.stateOf(RateLimitFields.names.map((name) => row[name]))])
      )
  )

/** Returns the number of rows in a table. */
export const countRows = (sql: SqlClient.SqlClient, table = "rate_limits"): Effect.Effect<number, SqlError> =>
  Effect.map(sql<{ readonly rows: unknown }>`SELECT count(*) AS rows FROM ${sql(table)}`, ([row]) =>
    Number(row?.rows)
  )
