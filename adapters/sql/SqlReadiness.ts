/** `Readiness` of a database: it is written to, since every request must be counted. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { Readiness } from "../../core/ports/Readiness.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as StoreCall from "./StoreCall.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** What `layer` takes. */
export type SqlReadinessOptions = Pick<SqlOptions, "timeoutMs">

/** Readiness of the `SqlClient` in the context, whose tables `Migrations.migrate` has made. */
export const layer = ({ timeoutMs }: SqlReadinessOptions): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.effect(
    Readiness,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const write = sql.onDialectOrElse({
        pg: () => sql`UPDATE settings SET value = value WHERE name = 'cursor_key'`,
        // An update to the same value would write nothing, and find no disk full.
        orElse: () =>
          Effect.andThen(
            sql`INSERT INTO settings (name, value) VALUES ('probe', '')`,
            sql`DELETE FROM settings WHERE name = 'probe'`
          )
      })
      return Effect.asVoid(StoreCall.make(timeoutMs).run(WriteTransaction.run(sql, write)))
    })
  )
