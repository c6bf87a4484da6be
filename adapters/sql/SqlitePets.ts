/** Implements `PetRepository` in SQLite: concurrent inserts share transactions, and reads run in this thread. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { SingleStatements } from "./PostgresPets.ts"
import type * as SqlCall from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import { petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Creates the repository over a `SqlClient` of SQLite. */
export const make = (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  text: SingleStatements
): Required<PetRepository["Service"]> => {
  const execute = WriteTransaction.inQueue(sql, call, "groups")
  const insertOnce = SqlIdempotentInsert.make(sql, text.insert)

  const read = (statement: string, parameters: ReadonlyArray<unknown>) =>
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
    find: (id) => Effect.map(read(text.find, [id]), ([pet]) => Option.fromUndefinedOr(pet)),
    page: ({ after = 0n, limit, status }) =>
      status === undefined ? read(text.page, [after, limit]) : read(text.pageByStatus, [status, after, limit])
  }
}
