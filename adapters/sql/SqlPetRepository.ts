/** `PetRepository` in a database, int64 exact. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type { Int64 } from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Immediate from "../../core/ports/Immediate.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as LatestPets from "./LatestPets.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as StoreCall from "./StoreCall.ts"
import type * as WriteTransaction from "./WriteTransaction.ts"

/** What `layer` takes. */
export type SqlPetRepositoryOptions = Pick<SqlOptions, "timeoutMs">

/** The repository over the `SqlClient` in the context, whose tables `Migrations.migrate` has made. */
export const layer = (
  options: SqlPetRepositoryOptions
): Layer.Layer<PetRepository, never, SqlClient.SqlClient> => Layer.effect(PetRepository, make(options))

const make = Effect.fnUntraced(function* ({
  timeoutMs
}: SqlPetRepositoryOptions): Effect.fn.Return<PetRepository["Service"], never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const call = StoreCall.make(timeoutMs)
  const text = statementsFor(sql)

  const query = (statement: string, ...parameters: ReadonlyArray<unknown>) =>
    Effect.provideService(sql.unsafe(statement, parameters).values, SqlClient.SafeIntegers, true)

  const inserted = (pet: NewPet, [row]: ReadonlyArray<Row>): Pet => new Pet(toInt64(row?.[0]), pet)
  const values = (pet: NewPet) => [pet.name, pet.categoryId, pet.status]

  const insertAll = function* (
    pets: ReadonlyArray<NewPet>
  ): WriteTransaction.Steps<ReadonlyArray<Exit.Exit<Pet>>> {
    const exits: Array<Exit.Exit<Pet>> = []
    for (const pet of pets) exits.push(Exit.succeed(inserted(pet, yield [text.insert, values(pet)])))
    return exits
  }

  const insert = yield* sql.onDialectOrElse({
    pg: () =>
      Effect.succeed((pet: NewPet) =>
        call.run(Effect.map(query(text.insert, ...values(pet)), (rows) => inserted(pet, rows)))
      ),
    orElse: () =>
      Effect.map(
        GroupCommit.make(sql, insertAll),
        (submit) => (pet: NewPet) => call.ask<Pet>((answer) => submit(pet, answer))
      )
  })

  const latest = LatestPets.make()
  let latestRows: ReadonlyArray<Row> = []
  let latestPage: ReadonlyArray<Pet> = []
  const petsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<Pet> => {
    // While nothing is written, the same rows are read again.
    if (rows !== latestRows) {
      latestPage = rows.map((row) => latest(...petOf(row)))
      latestRows = rows
    }
    return latestPage
  }
  const direct = SqliteClient.directOf(sql)
  const pets = (statement: string, ...parameters: ReadonlyArray<unknown>) =>
    new Immediate.Immediate<ReadonlyArray<Pet>, StoreUnavailable>(() => {
      const rows = direct?.read(statement, parameters)
      return Effect.mapEager(
        rows === undefined ? call.run(query(statement, ...parameters)) : StoreCall.answerOf(rows),
        petsOf
      )
    })

  return {
    insert,
    find: (id) => Immediate.map(pets(text.find, id), ([pet]) => Option.fromUndefinedOr(pet)),
    page: ({ after, limit, status }) =>
      status === undefined
        ? pets(text.page, after ?? 0n, limit)
        : pets(text.pageOfStatus, status, after ?? 0n, limit)
  }
})

/** The values of a row, in the order of `columns`. */
type Row = ReadonlyArray<unknown>

const columns = "id, name, category_id, status"

/** The statements in the dialect of `sql`. */
export const statementsFor = (sql: SqlClient.SqlClient): ReturnType<typeof statements> =>
  sql.onDialectOrElse({
    pg: () => ({
      ...statements((index) => `$${index}`),
      // With `status = $1` the planner may rather go along all ids, past every row of another status.
      pageOfStatus: `SELECT ${columns} FROM pets WHERE (status, id) > ($1, $2) AND status <= $1 ORDER BY status, id LIMIT $3`
    }),
    // SQLite plans a statement anew each time another limit is bound to it (4 µs), unless the limit is a sum.
    orElse: () => statements(() => "?", "? + 0")
  })

/** Ids are positive, so that the first page is the one after 0. */
const statements = (parameter: (index: number) => string, limit?: string) => ({
  insert: `INSERT INTO pets (name, category_id, status) VALUES (${[1, 2, 3].map(parameter).join(", ")}) RETURNING id`,
  find: `SELECT ${columns} FROM pets WHERE id = ${parameter(1)}`,
  page: `SELECT ${columns} FROM pets WHERE id > ${parameter(1)} ORDER BY id LIMIT ${limit ?? parameter(2)}`,
  pageOfStatus: `SELECT ${columns} FROM pets WHERE status = ${parameter(1)} AND id > ${parameter(2)} ORDER BY id LIMIT ${limit ?? parameter(3)}`
})

const petOf = ([id, name, categoryId, status]: Row): readonly [id: Int64, pet: NewPet] => [
  toInt64(id),
  { name: toName(name), categoryId: toInt64(categoryId), status: toStatus(status) }
]

const toName = (value: unknown): string => {
  if (typeof value === "string") return value
  throw new Error("a row has a name that is no text")
}

/** Drivers give bigints or, to be exact otherwise, text; a number may have been rounded already. */
const toInt64 = (value: unknown): bigint => {
  if (typeof value === "bigint") return value
  if (typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value)))
    return BigInt(value)
  throw new Error("the driver returned an int64 that is not exact")
}

const toStatus = (value: unknown): PetStatus.PetStatus => {
  if (typeof value === "string" && PetStatus.is(value)) return value
  throw new Error("a row has a status that is unknown")
}
