/** Rejects PostgreSQL settings that would break the guarantees of the stores. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { DatabaseUnusable, opening } from "./DatabaseUnusable.ts"
import * as SqlTable from "./SqlTable.ts"

/** Fails if a setting must be changed; the error names the setting. */
export const check = (sql: SqlClient.SqlClient): Effect.Effect<void, DatabaseUnusable> =>
  SqlTable.query(
    sql,
    `SELECT current_setting('server_encoding'), current_setting('default_transaction_isolation'),
       current_setting('synchronous_commit')`
  ).pipe(
    Effect.flatMap(([settings = []]) => {
      const reason = problemOf(settings)
      return reason === undefined ? Effect.void : Effect.fail(new DatabaseUnusable({ reason }))
    }),
    opening
  )

const problemOf = ([encoding, isolation, commit]: ReadonlyArray<unknown>): string | undefined => {
  // Other encodings lack characters that names may have. SQL_ASCII stores the bytes of UTF-8 unchanged.
  if (encoding !== "UTF8" && encoding !== "SQL_ASCII") {
    return `its encoding is ${encoding} and must be UTF8: create another one with ENCODING 'UTF8' TEMPLATE template0`
  }
  // At stricter isolation levels, concurrent requests that change one row fail.
  if (isolation !== "read committed") {
    return `its setting default_transaction_isolation is '${isolation}' and must be 'read committed' for this user`
  }
  if (commit === "off")
    return "its setting synchronous_commit is 'off', so acknowledged writes could be lost; turn it on for this user"
  return undefined
}
