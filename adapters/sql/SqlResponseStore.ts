/** Implements `ResponseStore` on a SQL database, with a row for each `Idempotency-Key`. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Once from "../../core/idempotency/Once.ts"
import type { Claim, Methods } from "../../core/ports/ResponseStore.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TABLE = "idempotent_responses"
const WHERE = "WHERE caller = $1 AND key = $2"
const FIND = `SELECT fingerprint, claimed_at, result FROM ${TABLE} ${WHERE}`

// One statement, so that of two transactions that insert the key, the second one updates no row.
const INSERT = `INSERT INTO ${TABLE} (caller, key, fingerprint, claimed_at, expires_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, claimed_at = excluded.claimed_at,
    expires_at = excluded.expires_at, result = NULL
  WHERE ${TABLE}.expires_at <= excluded.claimed_at
  RETURNING 1`

/** Creates the store over a client, after `Migrations.migrate`. */
export const make = (sql: SqlClient.SqlClient, call: SqlCall): Methods => {
  const sweep = SqlIdempotentInsert.sweepOf(sql, TABLE)

  const claim = (once: Once.Once): Effect.Effect<Claim, SqlError> =>
    Effect.gen(function* () {
      const { caller, fingerprint, key, now } = once
      const values = [caller, key, fingerprint, now, now + Once.RETENTION_MS]
      const { rows } = yield* WriteTransaction.execute(sql, [
        [sweep, [now]],
        [INSERT, values]
      ])
      if (rows.length > 0) return { _tag: "Claimed" }
      const [found] = yield* SqlTable.query(sql, FIND, [caller, key])
      // It was freed in the meantime.
      if (found === undefined) return yield* claim(once)
      const [stored, since, result] = found
      if (stored !== fingerprint) return { _tag: "Mismatch" }
      return result === null
        ? { _tag: "Unsettled", since: Number(since) }
        : { _tag: "Settled", result: String(result) }
    })

  const settle = ({ caller, key }: Once.Once, result: string | undefined) =>
    WriteTransaction.execute(sql, [
      result === undefined
        ? [`DELETE FROM ${TABLE} ${WHERE}`, [caller, key]]
        : [`UPDATE ${TABLE} SET result = $3 ${WHERE}`, [caller, key, result]]
    ])

  return {
    claim: (once) => call.run(claim(once)),
    settle: (once, result) => Effect.asVoid(call.run(settle(once, result)))
  }
}
