/** Implements `PetRepository` in SQLite: concurrent inserts share transactions, and reads run in this thread. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { SingleStatements } from "./PostgresPets.ts"
import type * as SqlCall from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import { petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import * as SqlScript from "./SqlScript.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Creates the repository over a `SqlClient` of SQLite. */
export const make = (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  text: SingleStatements
): Required<PetRepository["Service"]> => {
  const insert = WriteTransaction.calls(sql, call, {
    name: "statements",
    sql: text.insert,
    resultOf: (rows, index) => toInt64(rows[index]?.[0]?.[0])
  })
  const insertOnce = WriteTransaction.calls(sql, call, { name: "scripts", resultOf: SqlScript.outcomeAt })

  const read = (statement: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(
      SqliteWorkerClient.isSqliteWorkerClient(sql)
        ? Effect.suspend(() => call.result(sql.read(statement, parameters)))
        : call.run(
            Effect.provideService(sql.unsafe(statement, parameters).values, SqlClient.SafeIntegers, true)
          ),
      (rows) => rows.map(petOf)
    )

  return {
    insert: (pet) => Effect.map(insert(valuesOf(pet)), (id) => new Pet(id, pet)),
    insertOnce: (pet, once) =>
      Effect.map(insertOnce(SqlIdempotentInsert.script(text.insert, pet, once)), (outcome) =>
        SqlIdempotentInsert.outcomeOf(outcome, pet, once)
      ),
    find: (id) => Effect.map(read(text.find, [id]), ([pet]) => Option.fromUndefinedOr(pet)),
    page: ({ after = 0n, limit, status }) =>
      status === undefined ? read(text.page, [after, limit]) : read(text.pageByStatus, [status, after, limit])
  }
}
