/** Implements `PetRepository` in PostgreSQL: concurrent calls share statements (`PostgresBatch`). */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Int64 } from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import * as PostgresArray from "./PostgresArray.ts"
import * as PostgresBatch from "./PostgresBatch.ts"
import * as PostgresPages from "./PostgresPages.ts"
import type * as SqlCall from "./SqlCall.ts"
import * as SqlIdempotentInsert from "./SqlIdempotentInsert.ts"
import * as SqlPetRow from "./SqlPetRow.ts"
import { columns, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"

/** The statements for several calls; `nth` is the position of a call, from 1. */
export const statements = {
  // Assigns the ids in the order of the calls.
  insert: `
    WITH given AS (
      SELECT nextval((SELECT pg_get_serial_sequence('pets', 'id')::regclass)) AS id, ordered.*
      FROM (
        SELECT * FROM unnest(${SqlPetRow.all.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ")}) WITH ORDINALITY AS pet (${columns}, nth)
        ORDER BY nth
      ) ordered
    ), stored AS (
      INSERT INTO pets (id, ${columns}) OVERRIDING SYSTEM VALUE SELECT id, ${columns} FROM given
    )
    SELECT nth::float8, id FROM given`,
  find: `SELECT id, ${columns} FROM pets WHERE id = ANY($1::bigint[])`
}

/** Creates the repository over a `SqlClient` of PostgreSQL. */
export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall
): Effect.fn.Return<Required<PetRepository["Service"]>> {
  // Statements for single calls cost less.
  const single = SqlPetRow.statementsFor(sql)
  const query = (statement: string, ...parameters: ReadonlyArray<unknown>) =>
    sql.unsafe(statement, parameters).values

  const insertOne = (pet: NewPet) =>
    Effect.map(query(single.insert, ...valuesOf(pet)), ([row]) => [() => new Pet(toInt64(row?.[0]), pet)])

  const insertAll = (pets: ReadonlyArray<NewPet>) => {
    const arrays = SqlPetRow.all.map(({ encode, type }) => PostgresArray.ofType(type, pets.map(encode)))
    return Effect.map(query(statements.insert, ...arrays), (rows) => {
      const ids = new Map(rows.map(([nth, id]) => [nth, id]))
      return pets.map((pet, index) => () => new Pet(toInt64(ids.get(index + 1)), pet))
    })
  }

  const findOne = (id: Int64) => Effect.map(query(single.find, id), ([row]) => [() => found(row)])

  const findAll = (ids: ReadonlyArray<Int64>) =>
    Effect.map(query(statements.find, PostgresArray.bigint([...new Set(ids)])), (rows) => {
      const byId = new Map(rows.map((row) => [row[0], row]))
      return ids.map((id) => () => found(byId.get(id)))
    })

  const pageOne = ({ after = 0n, limit, status }: PageQuery) =>
    Effect.map(
      status === undefined
        ? query(single.page, after, limit)
        : query(single.pageByStatus, status, after, limit),
      (rows) => [() => rows.map(petOf)]
    )

  const pageAll = (queries: ReadonlyArray<PageQuery>) => {
    const pages = PostgresPages.of(queries)
    return Effect.map(query(PostgresPages.statement, ...pages.parameters), (rows) => {
      const found = pages.split(rows)
      // Equal queries share a page, which is decoded once.
      const decoded: Array<ReadonlyArray<Pet> | undefined> = []
      return pages.positions.map(
        (position) => () => (decoded[position] ??= (found[position] ?? []).map(petOf))
      )
    })
  }

  const insert = yield* PostgresBatch.make({
    statement: PostgresBatch.oneOrMore(insertOne, insertAll)
  })
  const find = yield* PostgresBatch.make({
    isRepeatable: true,
    statement: PostgresBatch.oneOrMore(findOne, findAll)
  })
  const page = yield* PostgresBatch.make({
    isRepeatable: true,
    statement: PostgresBatch.oneOrMore(pageOne, pageAll)
  })

  return {
    insert: (pet) => call.submit((done) => insert(pet, done)),
    insertOnce: SqlIdempotentInsert.postgres(sql, call, single.insert),
    find: (id) => call.submit((done) => find(id, done)),
    page: (query) => call.submit((done) => page(query, done))
  }
})

const found = (row: SqlPetRow.Row | undefined): Option.Option<Pet> =>
  Option.map(Option.fromUndefinedOr(row), petOf)
