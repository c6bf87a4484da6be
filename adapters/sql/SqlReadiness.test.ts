import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { Readiness } from "../../core/ports/Readiness.ts"
import { type Database, describeOn, kinds } from "./Databases.fixture.ts"
import { openClient, openNode, whileLocked } from "./Nodes.fixture.ts"
import * as Sql from "./Sql.ts"

const TIMEOUT_MS = 2_000

const expectFailure = (checkReadiness: Effect.Effect<void, StoreUnavailable>) =>
  Effect.gen(function* () {
    const failure = yield* Effect.flip(checkReadiness)
    expect(failure._tag).toBe("StoreUnavailable")
    return failure
  })

/** Opens a node with a single connection. */
const openOnOneConnection = (database: Database) =>
  Effect.gen(function* () {
    const client = database.address.startsWith("sqlite:")
      ? database.client
      : PgClient.layer({ url: Redacted.make(database.address), maxConnections: 1 })
    const sql = yield* openClient({ ...database, client })
    const stores = Sql.layer({ timeoutMs: TIMEOUT_MS }).pipe(
      Layer.provide([Layer.succeed(SqlClient.SqlClient, sql), SecureRandom.layerWebCrypto])
    )
    return { checkReadiness: Context.get(yield* Layer.build(stores), Readiness), sql }
  })

const setReadOnly = (sql: SqlClient.SqlClient, isOn: boolean) =>
  sql.onDialectOrElse({
    pg: () => sql.unsafe(`SET default_transaction_read_only = ${isOn}`),
    orElse: () => sql.unsafe(`PRAGMA query_only = ${isOn}`)
  })

for (const kind of kinds) {
  describeOn(kind, "SqlReadiness", () => {
    it.live("succeeds while the database accepts writes, and changes nothing", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const checkReadiness = Context.get(yield* openNode(database), Readiness)
        const sql = yield* openClient(database)
        const insert = sql<{ id: unknown }>`
          INSERT INTO pets (name, category_id, status) VALUES ('a', 1, 'sold') RETURNING id`
        const [first] = yield* insert
        const tables = ["settings", "pets", "rate_limits", "api_keys"]
        const content = Effect.forEach(tables, (table) => sql`SELECT * FROM ${sql(table)}`)
        const before = yield* content
        yield* Effect.all([checkReadiness, checkReadiness, checkReadiness], { concurrency: "unbounded" })
        expect(yield* content).toEqual(before)
        const [second] = yield* insert
        expect(Number(second?.id)).toBe(Number(first?.id) + 1)
      })
    )

    it.live(
      "fails within the timeout while another program locks the database, and then succeeds again",
      () =>
        Effect.gen(function* () {
          const database = yield* kind.create
          const { checkReadiness } = yield* openOnOneConnection(database)
          const other = yield* openClient(database)
          const failure = yield* whileLocked(other, "pets", expectFailure(checkReadiness))
          expect(failure.retryable).toBe(true)
          yield* checkReadiness
        })
    )

    it.live("fails while the database is read-only, and then succeeds again", () =>
      Effect.gen(function* () {
        const { checkReadiness, sql } = yield* openOnOneConnection(yield* kind.create)
        yield* setReadOnly(sql, true)
        const failure = yield* expectFailure(checkReadiness)
        expect(String(failure.cause)).not.toContain("did not respond")
        yield* setReadOnly(sql, false)
        yield* checkReadiness
      })
    )

    it.live("fails while a table is missing, and then succeeds again", () =>
      Effect.gen(function* () {
        const { checkReadiness, sql } = yield* openOnOneConnection(yield* kind.create)
        for (const table of ["pets", "settings"]) {
          yield* sql.unsafe(`ALTER TABLE ${table} RENAME TO gone`)
          yield* expectFailure(checkReadiness)
          yield* sql.unsafe(`ALTER TABLE gone RENAME TO ${table}`)
          yield* checkReadiness
        }
      })
    )

    it.live("fails after the database is closed", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const scope = yield* Scope.make()
        const node = yield* Scope.provide(openNode(database, { timeoutMs: TIMEOUT_MS }), scope)
        const checkReadiness = Context.get(node, Readiness)
        yield* checkReadiness
        yield* Scope.close(scope, Exit.void)
        yield* expectFailure(checkReadiness)
      })
    )
  })
}
