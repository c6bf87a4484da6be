/** Implements `ResponseStore` on a SQL database, with a row for each `Idempotency-Key`. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Once from "../../core/idempotency/Once.ts"
import { type Claim, ResponseStore } from "../../core/ports/ResponseStore.ts"
import * as SqlCall from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TABLE = "idempotent_responses"

/** Provides the store over the `SqlClient` in the context, after `Migrations.migrate`. */
export const layer = ({
  timeoutMs
}: Pick<SqlOptions, "timeoutMs">): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.effect(
    ResponseStore,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const call = SqlCall.make(timeoutMs)
      const parameter = SqlTable.parameterOf(sql)
      const sweep = sql.onDialectOrElse({
        pg: () => SqlIdempotentInsert.postgresSweep(TABLE),
        orElse: () => SqlIdempotentInsert.sqliteSweep(TABLE)
      })
      const where = `WHERE caller = ${parameter(0)} AND key = ${parameter(1)}`
      // One statement, so that of two transactions that insert the key, the second one updates no row.
      const insert = `INSERT INTO ${TABLE} (caller, key, fingerprint, claimed_at, expires_at)
        VALUES (${[0, 1, 2, 3, 4].map(parameter).join(", ")})
        ON CONFLICT (caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, claimed_at = excluded.claimed_at,
          expires_at = excluded.expires_at, result = NULL
        WHERE ${TABLE}.expires_at <= excluded.claimed_at
        RETURNING 1`

      const claim = (once: Once.Once): Effect.Effect<Claim, SqlError> =>
        Effect.gen(function* () {
          const { caller, fingerprint, key, now } = once
          const values = [caller, key, fingerprint, now, now + Once.RETENTION_MS]
          const { rows } = yield* WriteTransaction.execute(sql, [
            [sweep, [now]],
            [insert, values]
          ])
          if (rows.length > 0) return { _tag: "Claimed" }
          const [found] = yield* sql.unsafe(`SELECT fingerprint, claimed_at, result FROM ${TABLE} ${where}`, [
            caller,
            key
          ]).values
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
            ? [`DELETE FROM ${TABLE} ${where}`, [caller, key]]
            : [
                `UPDATE ${TABLE} SET result = ${parameter(0)} WHERE caller = ${parameter(1)} AND key = ${parameter(2)}`,
                [result, caller, key]
              ]
        ])

      return {
        claim: (once) => call.run(claim(once)),
        settle: (once, result) => Effect.asVoid(call.run(settle(once, result)))
      }
    })
  )
