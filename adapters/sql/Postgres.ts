/** Provides the stores in PostgreSQL, which any number of machines can share. */
import { Buffer } from "node:buffer"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type DatabaseUnusable, detailOf, explainedBy, fromSqlError } from "./DatabaseUnusable.ts"
import type * as Migrations from "./Migrations.ts"
import * as Sql from "./Sql.ts"
import * as SqlOptions from "./SqlOptions.ts"

/** Options of `layer`. */
export interface PostgresOptions extends Partial<SqlOptions.SqlOptions> {
  /** `postgres://user:password@host:port/database`; `sslmode`, `application_name` and `options` may follow. */
  readonly url: Redacted.Redacted<string>
  /** Maximum number of open connections. */
  readonly connections?: number | undefined
}

/** Provides the stores in a PostgreSQL database; connections are opened on demand. */
export const layer = ({
  connections = SqlOptions.connections.default,
  url,
  ...options
}: PostgresOptions): Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom> =>
  Sql.layer(options).pipe(
    Layer.provide(client(url, connections, options.timeoutMs ?? SqlOptions.table.timeoutMs.default)),
    explainedBy(explain(hostAndPortOf(Redacted.value(url))))
  )

/**
 * Provides a client for work on whole tables, after the tables are created or migrated.
 *
 * @internal
 */
export const tables = (
  url: Redacted.Redacted<string>,
  use: Migrations.Use
): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> =>
  Sql.migrated(use).pipe(
    Layer.provide(client(url, TABLE_CONNECTIONS, TABLE_CONNECT_MS)),
    explainedBy(explain(hostAndPortOf(Redacted.value(url))))
  )

/**
 * Provides a client that only reads, if the database contains the tables of this version.
 *
 * @internal
 */
export const reading = (url: Redacted.Redacted<string>): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> =>
  Sql.checked.pipe(
    Layer.provide(client(url, TABLE_CONNECTIONS, TABLE_CONNECT_MS)),
    explainedBy(explain(hostAndPortOf(Redacted.value(url))))
  )

// One statement runs at a time; the driver uses the other connection to cancel it.
const TABLE_CONNECTIONS = 2
const TABLE_CONNECT_MS = 5_000

const client = (url: Redacted.Redacted<string>, connections: number, connectTimeout: number) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.mapError(
      PgClient.make({
        url,
        types,
        maxConnections: connections,
        // A connection that the network has dropped is detected only when a call fails, so few stay idle.
        idleTimeout: "5 seconds",
        connectTimeout,
        applicationName: "animal-store"
      }),
      fromSqlError
    )
  ).pipe(Layer.provide(Reactivity.layer))

const explain =
  (hostAndPort: string) =>
  (error: SqlError): string => {
    const server = `the PostgreSQL server at ${hostAndPort}`
    const detail = detailOf(error)
    switch (error.reason._tag) {
      case "ConnectionError":
        return `cannot reach ${server}: ${detail}`
      case "AuthenticationError":
        return `${server} rejects the login: ${detail}`
      default:
        return `${server} reports: ${detail}`
    }
  }

/** Returns only the host and port of an address, because the rest may contain a password. */
const hostAndPortOf = (address: string): string => {
  if (!URL.canParse(address)) return "an invalid address"
  const { hostname, port, searchParams } = new URL(address)
  const host = searchParams.get("host") ?? (hostname === "" ? "localhost" : hostname)
  return `${host}:${searchParams.get("port") ?? (port === "" ? 5432 : port)}`
}

/** The driver's types with another text type: the driver's own type drops a leading U+FEFF if U+FFFD follows. */
const types = PgTypes.makeRegistry()
types.register<string>(PgTypes.OID.text, {
  encode: (value) => Result.succeed(Buffer.from(value)),
  write: (sink, value) => Result.succeed(sink.utf8(value)),
  decode: (bytes) => Result.succeed(Buffer.from(bytes).toString()),
  read: (bytes, offset, size) =>
    Result.succeed(Buffer.from(bytes.buffer, bytes.byteOffset + offset, size).toString())
})
