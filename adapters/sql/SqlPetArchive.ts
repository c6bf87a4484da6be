/** Implements `PetArchive` on a SQL database. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { Int64 } from "../../core/domain/Int64.ts"
import { identity } from "../../core/domain/NewPet.ts"
import { type Batch, IdTaken, ImportMoved, type ImportStep, PetArchive } from "../../core/ports/PetArchive.ts"
import type { ImportedPet } from "../../core/transfer/ImportedPet.ts"
import { beginning, type ImportRecord } from "../../core/transfer/ImportRecord.ts"
import * as SqlCall from "./SqlCall.ts"
import { all, columns, petOf, type Row, toInt64 } from "./SqlPetRow.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Timeout of a call, in milliseconds: a batch may wait for writers and for a slow disk. */
const TIMEOUT_MS = 60_000

/** Provides the archive over the `SqlClient` in the context, after `Migrations.migrate`. */
export const layer: Layer.Layer<PetArchive, never, SqlClient.SqlClient> = Layer.effect(
  PetArchive,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const call = SqlCall.make(TIMEOUT_MS)
    const query = (text: string, ...parameters: ReadonlyArray<unknown>) =>
      call.run(SqlTable.query(sql, text, parameters))
    const transact = <A>(begin: () => SqlScript.Steps<A>) => call.run(WriteTransaction.runSteps(sql, begin))
    return {
      lastId: Effect.map(query(LAST_ID), lastIdOf),
      page: (after, upTo, limit) => Effect.map(query(PAGE, after, upTo, limit), (rows) => rows.map(petOf)),
      findImport: (source) => Effect.map(query(FIND_IMPORT, source), ([row]) => row && recordOf(row)),
      startImport: (source, keepIds, again) =>
        Effect.flatMap(
          transact(() => startImport(source, keepIds, again)),
          (isStarted) => (isStarted ? Effect.void : Effect.fail(new ImportMoved({ source })))
        ),
      reserveIds: (id) =>
        Effect.asVoid(transact(() => SqlScript.steps([...lock(sql), ...advancing(sql, id)]))),
      findTaken: (pets) =>
        Effect.map(
          transact(() => findExisting(sql, pets)),
          ({ taken }) => taken
        ),
      store: (batch) =>
        Effect.flatMap(
          transact(() => storeBatch(sql, batch)),
          (outcome) => (typeof outcome === "number" ? Effect.succeed(outcome) : Effect.fail(outcome))
        )
    }
  })
)

const LAST_ID = "SELECT coalesce(max(id), 0) FROM pets"

const PAGE = `SELECT id, ${columns} FROM pets WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`

const FIND_IMPORT =
  "SELECT keep_ids, bytes, lines, animals, prefix, completed_at FROM imports WHERE source = $1"

const START_IMPORT = `INSERT INTO imports (source, keep_ids, bytes, lines, animals, prefix)
  VALUES ($1, $2, 0, 0, 0, '${beginning.prefix}')
  ON CONFLICT (source) DO UPDATE SET keep_ids = excluded.keep_ids, bytes = 0, lines = 0, animals = 0,
    prefix = excluded.prefix, completed_at = NULL
  WHERE imports.completed_at IS NOT NULL AND $3 = 1`

const ADVANCE_IMPORT = `UPDATE imports SET bytes = $2, lines = $3, animals = $4, prefix = $5, completed_at = $6
  WHERE source = $1`

const lastIdOf = ([row]: ReadonlyArray<Row>): Int64 => toInt64(row?.[0])

const recordOf = ([keepIds, bytes, lines, animals, prefix, completedAt]: Row): ImportRecord => ({
  keepIds: Number(keepIds) === 1,
  position: {
    bytes: Number(bytes),
    lines: Number(lines),
    animals: Number(animals),
    prefix: String(prefix)
  },
  completedAt: completedAt === null ? undefined : Number(completedAt)
})

/**
 * Starts an import; restarts a completed one only if `again` is true. Returns whether the import is now in progress.
 */
const startImport = function* (source: string, keepIds: boolean, again: boolean): SqlScript.Steps<boolean> {
  yield [START_IMPORT, [source, keepIds ? 1n : 0n, again ? 1n : 0n]]
  const [row] = yield [FIND_IMPORT, [source]]
  return row !== undefined && recordOf(row).completedAt === undefined
}

/** Stores a batch; returns the number of animals, or a failure. A failure does not roll back, so checks come first. */
const storeBatch = function* (
  sql: SqlClient.SqlClient,
  { keepIds, pets, step }: Batch
): SqlScript.Steps<number | ImportMoved | IdTaken> {
  if (step !== undefined && !(yield* isAtRecordedPosition(sql, step)))
    return new ImportMoved({ source: step.source })
  let added = pets
  if (keepIds && pets.length > 0) {
    yield* SqlScript.steps(lock(sql))
    const { present, taken } = yield* findExisting(sql, pets)
    const [id] = taken
    if (id !== undefined) return new IdTaken({ id })
    if (present.size > 0) added = pets.filter((pet) => pet.id !== undefined && !present.has(pet.id))
  }
  yield* insert(sql, added, keepIds)
  if (step !== undefined) {
    const { completedAt = null, source, to } = step
    yield [ADVANCE_IMPORT, [source, to.bytes, to.lines, to.animals, to.prefix, completedAt].map(toExact)]
  }
  return added.length
}

/** Inserts animals, in the order of their ids if they have some. */
const insert = function* (
  sql: SqlClient.SqlClient,
  pets: ReadonlyArray<ImportedPet>,
  keepIds: boolean
): SqlScript.Steps<void> {
  const given = keepIds ? [id, ...all] : all
  const rows = pets.map((pet) => given.map(({ encode }) => encode(pet)))
  const table = { name: "pets", columns: new Map(given.map(({ name, type }) => [name, type])) }
  yield* SqlScript.steps(SqlTable.insertion(sql, table, [...table.columns.keys()], rows))
  const last = keepIds ? pets.at(-1)?.id : undefined
  if (last !== undefined) yield* SqlScript.steps(advancing(sql, last))
}

const id = { name: "id", type: "bigint", encode: (pet: ImportedPet) => pet.id }

/** Whether the batch starts at the recorded position; locks the position until the transaction ends. */
const isAtRecordedPosition = function* (
  sql: SqlClient.SqlClient,
  { from, source }: ImportStep
): SqlScript.Steps<boolean> {
  // In SQLite, the transaction holds the write lock of the whole database.
  const forUpdate = SqlTable.isPostgres(sql) ? "FOR UPDATE" : ""
  const [row] = yield [`SELECT bytes FROM imports WHERE source = $1 ${forUpdate}`, [source]]
  return row !== undefined && Number(row[0]) === from.bytes
}

/** Returns the ids that the database has: `present` for equal animals, `taken` for different ones. */
const findExisting = function* (
  sql: SqlClient.SqlClient,
  pets: ReadonlyArray<ImportedPet>
): SqlScript.Steps<{ readonly present: ReadonlySet<Int64>; readonly taken: ReadonlyArray<Int64> }> {
  const lastId = lastIdOf(yield [LAST_ID, []])
  const known = pets.filter(({ id }) => id !== undefined && id <= lastId)
  const ids = known.flatMap(({ id }) => (id === undefined ? [] : [id]))
  const find = `SELECT id, ${columns} FROM pets
    WHERE id IN (SELECT CAST(value AS bigint) FROM (${SqlTable.texts(sql)}) AS list)`
  const rows = ids.length === 0 ? [] : yield [find, [`[${ids.join(",")}]`]]
  const stored = new Map(rows.map((row) => [toInt64(row[0]), petOf(row)]))
  const present = new Set<Int64>()
  const taken: Array<Int64> = []
  for (const pet of known) {
    const found = pet.id === undefined ? undefined : stored.get(pet.id)
    if (found === undefined) continue
    if (identity(found) === identity(pet)) present.add(found.id)
    else taken.push(found.id)
  }
  return { present, taken }
}

/** Converts numbers to bigints, because drivers reject or round some numbers. */
const toExact = (value: number | string | null): bigint | string | null =>
  typeof value === "number" ? BigInt(value) : value

/** Otherwise another process could take one of the ids between the check and the insert. */
const lock = (sql: SqlClient.SqlClient): SqlScript.Script =>
  SqlTable.onPostgres(sql, "LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE")

/** Ensures that later animals get ids above `id`. */
const advancing = (sql: SqlClient.SqlClient, id: Int64): SqlScript.Script =>
  SqlTable.advancing(sql, "pets", "id", id)
