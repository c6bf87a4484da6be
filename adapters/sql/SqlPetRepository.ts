/** Implements `PetRepository` on a SQL database, with exact int64 values. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as PostgresPets from "./PostgresPets.ts"
import * as SqlCall from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqliteClient from "./SqliteClient.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import { all, columns, petOf, type Row, toInt64, valuesOf } from "./SqlPetRow.ts"
import type * as WriteTransaction from "./WriteTransaction.ts"

/** Options of `layer`. */
export type SqlPetRepositoryOptions = Pick<SqlOptions, "timeoutMs">

/** Provides the repository over the `SqlClient` in the context, after `Migrations.migrate`. */
export const layer = (
  options: SqlPetRepositoryOptions
): Layer.Layer<PetRepository, never, SqlClient.SqlClient> => Layer.effect(PetRepository, make(options))

const make = Effect.fnUntraced(function* ({
  timeoutMs
}: SqlPetRepositoryOptions): Effect.fn.Return<
  Required<PetRepository["Service"]>,
  never,
  SqlClient.SqlClient
> {
  const sql = yield* SqlClient.SqlClient
  const call = SqlCall.make(timeoutMs)
  const text = statementsFor(sql)
  const repository = yield* sql.onDialectOrElse({
    pg: () => PostgresPets.make(sql, call, text),
    orElse: () => makeSqlite(sql, call, text)
  })
  return { ...repository, insertOnce: SqlIdempotentInsert.make(sql, call, text.insert) }
})

const makeSqlite = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  text: ReturnType<typeof statements>
): Effect.fn.Return<Omit<Required<PetRepository["Service"]>, "insertOnce">> {
  const query = (statement: string, ...parameters: ReadonlyArray<unknown>) =>
    Effect.provideService(sql.unsafe(statement, parameters).values, SqlClient.SafeIntegers, true)

  const toPet = (pet: NewPet, [row]: ReadonlyArray<Row>): Pet => new Pet(toInt64(row?.[0]), pet)

  const insertAll = function* (
    pets: ReadonlyArray<NewPet>
  ): WriteTransaction.Steps<ReadonlyArray<Exit.Exit<Pet>>> {
    const exits: Array<Exit.Exit<Pet>> = []
    for (const pet of pets) exits.push(Exit.succeed(toPet(pet, yield [text.insert, valuesOf(pet)])))
    return exits
  }

  const submit = yield* SqliteWorkerClient.isSqliteWorkerClient(sql)
    ? sql.groups<NewPet, Pet>({
        encode: (pets) => ({ kind: "statement", sql: text.insert, params: pets.map(valuesOf) }),
        // The worker returns the rows of each statement.
        decode: (results, index, pet) => toPet(pet, results[index] as ReadonlyArray<Row>)
      })
    : GroupCommit.make(sql, insertAll)

  const readPets = (statement: string, ...parameters: ReadonlyArray<unknown>) =>
    Effect.map(
      Effect.suspend(() => {
        const rows =
          SqliteClient.isSqliteClient(sql) || SqliteWorkerClient.isSqliteWorkerClient(sql)
            ? sql.read(statement, parameters)
            : undefined
        return rows === undefined ? call.run(query(statement, ...parameters)) : call.result(rows)
      }),
      (rows) => rows.map(petOf)
    )

  return {
    insert: (pet) => call.submit<Pet>((done) => submit(pet, done)),
    find: (id) => Effect.map(readPets(text.find, id), ([pet]) => Option.fromUndefinedOr(pet)),
    page: ({ after, limit, status }) =>
      status === undefined
        ? readPets(text.page, after ?? 0n, limit)
        : readPets(text.pageByStatus, status, after ?? 0n, limit)
  }
})

/** Returns the statements in the dialect of `sql`. */
export const statementsFor = (sql: SqlClient.SqlClient): ReturnType<typeof statements> =>
  sql.onDialectOrElse({
    pg: () => ({
      ...statements((index) => `$${index}`),
      // With `status = $1`, the planner may scan all ids and skip every row with another status.
      pageByStatus: `SELECT id, ${columns} FROM pets WHERE (status, id) > ($1, $2) AND status <= $1 ORDER BY status, id LIMIT $3`
    }),
    // SQLite plans a statement again (4 µs) whenever a different limit is bound, unless the limit is a sum.
    orElse: () => statements(() => "?", "? + 0")
  })

/** Returns the statements. Ids are positive, so the first page starts after id 0. */
const statements = (parameter: (index: number) => string, limit?: string) => ({
  insert: `INSERT INTO pets (${columns}) VALUES (${all.map((_, index) => parameter(index + 1)).join(", ")}) RETURNING id`,
  find: `SELECT id, ${columns} FROM pets WHERE id = ${parameter(1)}`,
  page: `SELECT id, ${columns} FROM pets WHERE id > ${parameter(1)} ORDER BY id LIMIT ${limit ?? parameter(2)}`,
  pageByStatus: `SELECT id, ${columns} FROM pets WHERE status = ${parameter(1)} AND id > ${parameter(2)} ORDER BY id LIMIT ${limit ?? parameter(3)}`
})
