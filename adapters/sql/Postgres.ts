/** Provides the stores in PostgreSQL, which any number of machines can share. */
import { Buffer } from "node:buffer"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { percentDecode } from "../../core/codec/QueryString.ts"
import { type DatabaseUnusable, detailOf, explainedBy, opening } from "./DatabaseUnusable.ts"
import type * as Migrations from "./Migrations.ts"
import * as PostgresClient from "./PostgresClient.ts"
import * as Sql from "./Sql.ts"
import * as SqlFailure from "./SqlFailure.ts"
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
  provideClient(Sql.layer(options), url, connections, timeoutsOf(options))

/**
 * Provides a client for a command; see `Sql.opened`.
 *
 * @internal
 */
export const client = (
  url: Redacted.Redacted<string>,
  use: Migrations.Use
): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> => provideClient(Sql.opened(use), url)

/** Timeouts of a connection attempt, and of a statement that begins or ends a transaction, in milliseconds. */
interface Timeouts {
  readonly connectMs: number
  readonly controlMs: number
}

/** By then, the call that began the transaction has failed. */
const timeoutsOf = ({
  timeoutMs = SqlOptions.table.timeoutMs.default
}: Partial<SqlOptions.SqlOptions>): Timeouts => ({ connectMs: timeoutMs, controlMs: timeoutMs })

/** Of commands, whose commit of many rows may take long. */
const COMMAND_TIMEOUTS: Timeouts = { connectMs: 5_000, controlMs: 30_000 }

/**
 * Provides the client of a layer. The defaults are for commands: one statement runs at a time, and the driver uses the
 * other connection to cancel it.
 */
const provideClient = <A, R>(
  layer: Layer.Layer<A, DatabaseUnusable, R>,
  url: Redacted.Redacted<string>,
  connections = 2,
  timeouts = COMMAND_TIMEOUTS
): Layer.Layer<A, DatabaseUnusable, Exclude<R, SqlClient.SqlClient>> =>
  layer.pipe(Layer.provide(connect(url, connections, timeouts)), explainedBy(explain(Redacted.value(url))))

const connect = (url: Redacted.Redacted<string>, connections: number, { connectMs, controlMs }: Timeouts) =>
  Layer.effect(
    SqlClient.SqlClient,
    PostgresClient.make(
      {
        url,
        types,
        maxConnections: connections,
        // A connection that the network has dropped is detected only when a call fails, so few stay idle.
        idleTimeout: "5 seconds",
        connectTimeout: connectMs,
        applicationName: "animal-store"
      },
      controlMs
    ).pipe(opening)
  ).pipe(Layer.provide(Reactivity.layer))

const explain =
  (address: string) =>
  (error: SqlError): string => {
    const { hostAndPort, user } = partsOf(address)
    const server = `the PostgreSQL server at ${hostAndPort}`
    const detail = detailOf(error)
    const remedy = remedyFor(error, detail, user)
    switch (error.reason._tag) {
      case "ConnectionError":
        return `cannot reach ${server}: ${detail}`
      case "AuthenticationError":
        return `${server} rejects the login: ${detail}`
      default:
        return `${server} reports: ${detail}${remedy === undefined ? "" : `: ${remedy}`}`
    }
  }

/** Returns what an operator can do about an error; `undefined` if its message is enough. */
const remedyFor = (error: SqlError, detail: string, user: string): string | undefined => {
  const state = SqlFailure.sqlStateOf(error)
  if (state !== "42501") return remedies.get(state)
  const [, schema] = /^permission denied for schema (.+)$/.exec(detail) ?? []
  return schema === undefined
    ? `${user} must own the tables of animal-store`
    : `run GRANT USAGE, CREATE ON SCHEMA ${nameOf(schema)} TO ${user}`
}

const remedies = new Map([
  ["3F000", "create the schema that search_path names, with CREATE SCHEMA"],
  ["3D000", "create it with CREATE DATABASE"],
  ["25006", "it is a standby, or default_transaction_read_only is on: pass the address of the primary"],
  ["53300", "raise its limit, or lower --database-connections of the nodes"]
])

/** Returns the name as it is written in a statement. */
const nameOf = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

/** Returns only the user, host and port of an address, because the rest may contain a password. */
const partsOf = (address: string): { readonly hostAndPort: string; readonly user: string } => {
  if (!URL.canParse(address)) return { hostAndPort: "an invalid address", user: "its user" }
  const { hostname, port, searchParams, username } = new URL(address)
  const host = searchParams.get("host") ?? (hostname === "" ? "localhost" : hostname)
  const user = searchParams.get("user") ?? username
  return {
    hostAndPort: `${host}:${searchParams.get("port") ?? (port === "" ? 5432 : port)}`,
    user: user === "" ? "its user" : nameOf(percentDecode(user) ?? user)
  }
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
