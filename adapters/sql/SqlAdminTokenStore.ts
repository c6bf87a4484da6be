/** Stores the tokens of administrators in the table `admin_tokens`. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { AdminToken } from "../../core/access/AdminToken.ts"
import type { AdminTokenStore } from "../../core/ports/AdminTokenStore.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"
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
    list: Effect.map(call.run(SqlTable.query(sql, SELECT)), (rows) => rows.map(tokenOf)),
    revoke: (id, at) =>
      write(["UPDATE admin_tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL", [at, id]])
  }
}

const SELECT = "SELECT id, name, hash, created_at, expires_at, revoked_at FROM admin_tokens ORDER BY position"

const tokenOf = ([id, name, hash, createdAt, expiresAt, revokedAt]: ReadonlyArray<unknown>): AdminToken => ({
  id: String(id),
  name: String(name),
  hash: String(hash),
  createdAt: Number(createdAt),
  expiresAt: expiresAt === null ? undefined : Number(expiresAt),
  revokedAt: revokedAt === null ? undefined : Number(revokedAt)
})
