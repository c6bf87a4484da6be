/** The stores in PostgreSQL: any number of machines. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { type DatabaseUnusable, fromSqlError } from "./DatabaseUnusable.ts"
import * as Sql from "./Sql.ts"

/** What `layer` takes. */
export interface PostgresOptions extends Partial<Sql.SqlOptions> {
  /** `postgres://user:password@host:port/database`; `sslmode`, `application_name` and `options` may follow. */
  readonly url: Redacted.Redacted<string>
  /** Most connections that are open at once. */
  readonly connections?: number | undefined
}

/** Connections for two cores and some waiting; four nodes stay far below a server's default of 100. */
export const defaultConnections = 16

/** The stores in a PostgreSQL database; connections are made when they are needed. */
export const layer = ({
  connections = defaultConnections,
  url,
  ...options
}: PostgresOptions): Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom> =>
  Sql.layer(options).pipe(
    Layer.provide(
      Layer.effect(
        SqlClient.SqlClient,
        Effect.mapError(
          PgClient.make({
            url,
            maxConnections: connections,
            connectTimeout: options.timeoutMs ?? Sql.defaults.timeoutMs,
            applicationName: "animal-store"
          }),
          fromSqlError
        )
      )
    ),
    Layer.provide(Reactivity.layer)
  )
