/** Implements `PetRepository` on a SQL database, with exact int64 values. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import * as PostgresPets from "./PostgresPets.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlitePets from "./SqlitePets.ts"
import { all, columns } from "./SqlPetRow.ts"
import * as SqlTable from "./SqlTable.ts"

/** Creates the repository over a client, after `Migrations.migrate`. */
export const make = (
  sql: SqlClient.SqlClient,
  call: SqlCall
): Effect.Effect<Required<PetRepository["Service"]>> =>
  SqlTable.isPostgres(sql)
    ? PostgresPets.make(sql, call, statementsFor(sql))
    : Effect.succeed(SqlitePets.make(sql, call, statementsFor(sql)))

/** Returns the statements in the dialect of `sql`. Ids are positive, so the first page starts after id 0. */
export const statementsFor = (sql: SqlClient.SqlClient) => {
  const isPostgres = SqlTable.isPostgres(sql)
  const text = (statement: string): string => SqlTable.textFor(sql, statement)
  // SQLite plans a statement again (4 µs) whenever a different limit is bound, unless the limit is a sum.
  const limit = isPostgres ? "" : " + 0"
  // PostgreSQL: with `status = $1`, the planner may scan all ids and skip every row with another status.
  const byStatus = isPostgres
    ? "WHERE (status, id) > ($1, $2) AND status <= $1 ORDER BY status, id"
    : "WHERE status = $1 AND id > $2 ORDER BY id"
  return {
    insert: text(
      `INSERT INTO pets (${columns}) VALUES (${all.map((_, index) => `$${index + 1}`).join(", ")}) RETURNING id`
    ),
    find: text(`SELECT id, ${columns} FROM pets WHERE id = $1`),
    page: text(`SELECT id, ${columns} FROM pets WHERE id > $1 ORDER BY id LIMIT $2${limit}`),
    pageByStatus: text(`SELECT id, ${columns} FROM pets ${byStatus} LIMIT $3${limit}`)
  }
}
