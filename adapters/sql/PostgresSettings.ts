/** Rejects PostgreSQL settings that would break the guarantees of the stores. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { DatabaseUnusable, fromSqlError, withTimeout } from "./DatabaseUnusable.ts"

interface Settings {
  readonly isolation: string
  readonly commit: string
}

/** Fails if a setting must be changed; the error names the setting. */
export const check = (sql: SqlClient.SqlClient): Effect.Effect<void, DatabaseUnusable> =>
  sql
    .unsafe<Settings>(
      "SELECT current_setting('default_transaction_isolation') AS isolation, current_setting('synchronous_commit') AS commit"
    )
    .pipe(
      Effect.mapError(fromSqlError),
      Effect.flatMap(([settings]) => {
        const reason = settings === undefined ? undefined : problemOf(settings)
        return reason === undefined ? Effect.void : Effect.fail(new DatabaseUnusable({ reason }))
      }),
      withTimeout
    )

const problemOf = ({ commit, isolation }: Settings): string | undefined => {
  // At stricter isolation levels, concurrent requests that change one row fail.
  if (isolation !== "read committed") {
    return `its setting default_transaction_isolation is '${isolation}' and must be 'read committed' for this user`
  }
  if (commit === "off")
    return "its setting synchronous_commit is 'off', so acknowledged writes could be lost; turn it on for this user"
  return undefined
}
