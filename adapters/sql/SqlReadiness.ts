/** `Readiness` of a database: inserts an animal as far as possible without leaving anything behind. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { Readiness } from "../../core/ports/Readiness.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as SqlPetRepository from "./SqlPetRepository.ts"
import * as StoreCall from "./StoreCall.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** What `layer` takes. */
export type SqlReadinessOptions = Pick<SqlOptions, "timeoutMs">

/** Readiness of the `SqlClient` in the context, whose tables `Migrations.migrate` has made. */
export const layer = ({ timeoutMs }: SqlReadinessOptions): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.effect(
    Readiness,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const insert = sql.onDialectOrElse({
        // It fails where an insert may not be made. A row that is rolled back would stay on its page until a vacuum,
        // and would use up an id; the request that `/readyz` counts proves that rows can be written.
        pg: () => sql`INSERT INTO pets (name, category_id, status) SELECT '', 0, 'available' WHERE false`,
        // Rolled back, it reads the pages that an insert changes, and uses up no id.
        orElse: () =>
          WriteTransaction.rehearse(
            sql,
            sql.unsafe(SqlPetRepository.statementsFor(sql).insert, ["readiness", 0, "available"])
          )
      })
      // Read when a process starts: without it the next one would not.
      const settings = sql`SELECT value FROM settings LIMIT 1`
      return Effect.asVoid(StoreCall.make(timeoutMs).run(Effect.andThen(insert, settings)))
    })
  )
