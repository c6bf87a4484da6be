/** Implements `Readiness` for a SQL database: tries to insert an animal, and stores nothing. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlPetRepository from "./SqlPetRepository.ts"
import * as SqlPetRow from "./SqlPetRow.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const INSERT_NONE = `INSERT INTO pets (${SqlPetRow.columns})
  SELECT ${SqlPetRow.all.map(({ type }) => `NULL::${type}`).join(", ")} WHERE false`

/** Creates the check over a client, after `Migrations.migrate`. */
export const make = (sql: SqlClient.SqlClient, call: SqlCall): Effect.Effect<void, StoreUnavailable> => {
  const insert = SqlTable.isPostgres(sql)
    ? // Inserts no row, but fails without the privilege to insert. A row that is inserted and rolled back would occupy
      // its page until a vacuum, and use up an id.
      sql.unsafe(INSERT_NONE)
    : // Reads the pages that an insert changes; in SQLite, a rolled-back insert uses up no id.
      WriteTransaction.rehearse(
        sql,
        SqlPetRepository.statementsFor(sql).insert,
        SqlPetRow.valuesOf({ name: "readiness", categoryId: 0n, status: "available" })
      )
  // A process reads this table at startup, and fails without it.
  const settings = sql`SELECT value FROM settings LIMIT 1`
  return Effect.asVoid(call.run(Effect.andThen(insert, settings)))
}
