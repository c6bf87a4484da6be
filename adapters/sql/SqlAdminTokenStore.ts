/** Stores the tokens of administrators in the table `admin_tokens`. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { AdminToken } from "../../core/access/AdminToken.ts"
import type { AdminTokenStore } from "../../core/ports/AdminTokenStore.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlScript from "./SqlScript.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Creates the store over a client, after `Migrations.migrate`. */
export const make = (sql: SqlClient.SqlClient, call: SqlCall): AdminTokenStore => {
  const write = (statement: SqlScript.Statement) =>
    Effect.asVoid(call.run(WriteTransaction.execute(sql, [statement])))
  return {
    insert: ({ createdAt, expiresAt = null, hash, id, name, revokedAt = null }) =>
      write(
        SqlScript.insert("admin_tokens", {
          id,
          name,
          hash,
          created_at: createdAt,
          expires_at: expiresAt,
          revoked_at: revokedAt
        })
      ),
    list: Effect.map(
      call.run(
        sql<Row>`SELECT id, name, hash, created_at, expires_at, revoked_at FROM admin_tokens ORDER BY position`
      ),
      (rows) => rows.map(toToken)
    ),
    revoke: (id, at) =>
      write(["UPDATE admin_tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL", [at, id]])
  }
}

interface Row {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly created_at: unknown
  readonly expires_at: unknown
  readonly revoked_at: unknown
}

const toToken = ({ created_at, expires_at, hash, id, name, revoked_at }: Row): AdminToken => ({
  id,
  name,
  hash,
  createdAt: Number(created_at),
  expiresAt: expires_at === null ? undefined : Number(expires_at),
  revokedAt: revoked_at === null ? undefined : Number(revoked_at)
})
