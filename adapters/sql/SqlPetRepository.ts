/** Implements `PetRepository` on a SQL database, with exact int64 values. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import * as PostgresPets from "./PostgresPets.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import { all, columns, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Creates the repository over a client, after `Migrations.migrate`. */
export const make = (
  sql: SqlClient.SqlClient,
  call: SqlCall
): Effect.Effect<Required<PetRepository["Service"]>> =>
  SqlTable.isPostgres(sql)
    ? PostgresPets.make(sql, call, statementsFor(sql))
    : Effect.succeed(makeSqlite(sql, call))

/** Creates the repository in SQLite: concurrent inserts share transactions, and reads run in this thread. */
const makeSqlite = (sql: SqlClient.SqlClient, call: SqlCall): Required<PetRepository["Service"]> => {
  const text = statementsFor(sql)
  const execute = WriteTransaction.inQueue(sql, call, "groups")
  const insertOnce = SqlIdempotentInsert.make(sql, text.insert)
  const read = (statement: string, ...parameters: ReadonlyArray<unknown>) =>
    Effect.map(
      SqliteWorkerClient.isSqliteWorkerClient(sql)
        ? Effect.suspend(() => call.result(sql.read(statement, parameters)))
        : call.run(SqlTable.query(sql, statement, parameters)),
      (rows) => rows.map(petOf)
    )
  return {
    insert: (pet) =>
      Effect.map(execute([[text.insert, valuesOf(pet)]]), ({ rows }) => new Pet(toInt64(rows[0]?.[0]), pet)),
    insertOnce: (pet, once) =>
      Effect.map(execute(insertOnce(pet, once)), (outcome) =>
        SqlIdempotentInsert.outcomeOf(outcome, pet, once)
      ),
    find: (id) => Effect.map(read(text.find, id), ([pet]) => Option.fromUndefinedOr(pet)),
    page: ({ after = 0n, limit, status }) =>
      status === undefined ? read(text.page, after, limit) : read(text.pageByStatus, status, after, limit)
  }
}

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
