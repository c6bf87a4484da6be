/** Implements `PetRepository` in SQLite: concurrent inserts share transactions, and reads run in this thread. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type { Int64 } from "../../core/domain/Int64.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import * as GroupCommit from "./GroupCommit.ts"
import type { SingleStatements } from "./PostgresPets.ts"
import type * as SqlCall from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import { petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import * as SqlScript from "./SqlScript.ts"

/** Creates the repository over a `SqlClient` of SQLite. */
export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  text: SingleStatements
): Effect.fn.Return<Required<PetRepository["Service"]>> {
  const insert = yield* GroupCommit.calls(sql, {
    name: "statements",
    sql: text.insert,
    resultOf: (rows, index) => toInt64(rows[index]?.[0]?.[0])
  })
  const insertOnce = yield* GroupCommit.calls(sql, { name: "scripts", resultOf: SqlScript.outcomeAt })

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
    insert: (pet) =>
      Effect.map(
        call.submit<Int64>((done) => insert(valuesOf(pet), done)),
        (id) => new Pet(id, pet)
      ),
    insertOnce: (pet, once) =>
      Effect.map(
        call.submit<SqlScript.Outcome>((done) =>
          insertOnce(SqlIdempotentInsert.script(text.insert, pet, once), done)
        ),
        (outcome) => SqlIdempotentInsert.outcomeOf(outcome, pet, once)
      ),
    find: (id) => Effect.map(read(text.find, [id]), ([pet]) => Option.fromUndefinedOr(pet)),
    page: ({ after = 0n, limit, status }) =>
      status === undefined ? read(text.page, [after, limit]) : read(text.pageByStatus, [status, after, limit])
  }
})
