/** Opens nodes on a database, and provides empty stores for each test without creating a new database. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { afterAll, beforeAll } from "vitest"
import type { Database, Kind } from "./Databases.fixture.ts"
import type { DatabaseUnusable } from "./DatabaseUnusable.ts"
import type * as Sql from "./Sql.ts"
import type { SqlOptions } from "./SqlOptions.ts"

/** A long timeout for tests, because machines that run many tests concurrently are slow. */
export const longTimeout: Partial<SqlOptions> = { timeoutMs: 20_000 }

/** Opens another node, which closes with the scope. */
export const openNode = (
  database: Database,
  options: Partial<SqlOptions> = longTimeout
): Effect.Effect<Context.Context<Sql.Stores>, DatabaseUnusable, Scope.Scope> =>
  Layer.build(database.stores(options))

/** Opens several nodes in sequence. */
export const openNodes = (database: Database, count: number, options: Partial<SqlOptions> = longTimeout) =>
  Effect.all(Array.from({ length: count }, () => openNode(database, options)))

/** Opens a separate client, for statements that the stores do not run. */
export const openClient = (database: Database): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope> =>
  Effect.map(Layer.build(database.client), (context) => Context.get(context, SqlClient.SqlClient))

/** Runs `work` while this client locks the table, or with SQLite the whole database, against writes. */
export const whileLocked = <A, E>(
  sql: SqlClient.SqlClient,
  table: string,
  work: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError> =>
  sql.onDialectOrElse({
    pg: () => sql.withTransaction(Effect.andThen(sql`LOCK TABLE ${sql(table)} IN EXCLUSIVE MODE`, work)),
    orElse: () =>
      Effect.provideService(sql.withTransaction(work), SqlClient.BeginTransaction, "BEGIN IMMEDIATE")
  })

/** Timeout for opening or closing a resource, in milliseconds; this may write or drop a million rows. */
const OPENING_MS = 60_000

/** Opens a resource before the tests of the current `describe`, and closes it after them. */
export const forAllTests = <A, E>(open: Effect.Effect<A, E, Scope.Scope>): (() => A) => {
  const scope = Scope.makeUnsafe()
  const opened: Array<A> = []
  beforeAll(async () => {
    opened.push(await Effect.runPromise(Scope.provide(open, scope)))
  }, OPENING_MS)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), OPENING_MS)
  return () => {
    const [value] = opened
    if (value === undefined) throw new Error("the resource is open only while tests run")
    return value
  }
}

/** Provides a new node. Building the layer empties `tables`, but does not reset the sequences of ids. */
export const emptyStores = (
  kind: Kind,
  tables: ReadonlyArray<string>,
  options: Partial<SqlOptions> = longTimeout
): Layer.Layer<Sql.Stores, DatabaseUnusable | SqlError> => {
  const open = forAllTests(
    Effect.gen(function* () {
      const database = yield* kind.create
      yield* Effect.scoped(openNode(database))
      return { database, sql: yield* openClient(database) }
    })
  )
  return Layer.unwrap(
    Effect.suspend(() => {
      const { database, sql } = open()
      const empty = Effect.forEach(tables, (table) => sql`DELETE FROM ${sql(table)}`, { discard: true })
      return Effect.as(empty, database.stores(options))
    })
  )
}
