/** Implements `PetArchive` on a SQL database. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { Int64 } from "../../core/domain/Int64.ts"
import { identity } from "../../core/domain/NewPet.ts"
import { type Batch, IdTaken, ImportMoved, type ImportStep, PetArchive } from "../../core/ports/PetArchive.ts"
import type { ImportedPet } from "../../core/transfer/ImportedPet.ts"
import { beginning, type ImportRecord } from "../../core/transfer/ImportRecord.ts"
import * as PostgresPets from "./PostgresPets.ts"
import * as SqlCall from "./SqlCall.ts"
import { all, columns, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import type * as SqlScript from "./SqlScript.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Timeout of a call, in milliseconds: a batch may wait for writers and for a slow disk. */
const TIMEOUT_MS = 60_000

/** Provides the archive over the `SqlClient` in the context, after `Migrations.migrate`. */
export const layer: Layer.Layer<PetArchive, never, SqlClient.SqlClient> = Layer.effect(
  PetArchive,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const call = SqlCall.make(TIMEOUT_MS)
    const dialect = sql.onDialectOrElse({ pg: () => postgres, orElse: () => sqlite })
    const query = (text: string, ...parameters: ReadonlyArray<unknown>) =>
      call.run(Effect.provideService(sql.unsafe(text, parameters).values, SqlClient.SafeIntegers, true))
    return {
      lastId: Effect.map(query(LAST_ID), lastIdOf),
      page: (after, upTo, limit) =>
        Effect.map(query(dialect.page, after, upTo, limit), (rows) => rows.map(petOf)),
      findImport: (source) =>
        Effect.map(query(dialect.findImport, source), ([row]) => (row === undefined ? row : recordOf(row))),
      startImport: (source, keepIds, again) =>
        Effect.flatMap(
          call.run(WriteTransaction.runSteps(sql, () => startImport(dialect, source, keepIds, again))),
          (isStarted) => (isStarted ? Effect.void : Effect.fail(new ImportMoved({ source })))
        ),
      reserveIds: (id) => call.run(WriteTransaction.runSteps(sql, () => dialect.reserveIds(id))),
      findTaken: (pets) =>
        Effect.map(
          call.run(WriteTransaction.runSteps(sql, () => findExisting(dialect, pets))),
          ({ taken }) => taken
        ),
      store: (batch) =>
        Effect.flatMap(
          call.run(WriteTransaction.runSteps(sql, () => storeBatch(dialect, batch))),
          (outcome) => (typeof outcome === "number" ? Effect.succeed(outcome) : Effect.fail(outcome))
        )
    }
  })
)

type Row = ReadonlyArray<unknown>

const LAST_ID = "SELECT coalesce(max(id), 0) FROM pets"

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
const startImport = function* (
  dialect: Dialect,
  source: string,
  keepIds: boolean,
  again: boolean
): SqlScript.Steps<boolean> {
  yield [dialect.startImport, [source, keepIds ? 1n : 0n, again ? 1n : 0n]]
  const [row] = yield [dialect.findImport, [source]]
  return row !== undefined && recordOf(row).completedAt === undefined
}

/** Stores a batch; returns the number of animals, or a failure. A failure does not roll back, so checks come first. */
const storeBatch = function* (
  dialect: Dialect,
  { keepIds, pets, step }: Batch
): SqlScript.Steps<number | ImportMoved | IdTaken> {
  if (step !== undefined && !(yield* isAtRecordedPosition(dialect, step)))
    return new ImportMoved({ source: step.source })
  let added = pets
  if (keepIds && pets.length > 0) {
    yield* dialect.lock()
    const { present, taken } = yield* findExisting(dialect, pets)
    const [id] = taken
    if (id !== undefined) return new IdTaken({ id })
    if (present.size > 0) added = pets.filter((pet) => pet.id !== undefined && !present.has(pet.id))
  }
  if (added.length > 0) yield* dialect.insert(added, keepIds)
  if (step !== undefined) {
    const { completedAt = null, source, to } = step
    yield [dialect.advance, [to.bytes, to.lines, to.animals, to.prefix, completedAt, source].map(toExact)]
  }
  return added.length
}

/** Whether the batch starts at the recorded position; locks the position until the transaction ends. */
const isAtRecordedPosition = function* (
  dialect: Dialect,
  { from, source }: ImportStep
): SqlScript.Steps<boolean> {
  const [row] = yield [dialect.lockImport, [source]]
  return row !== undefined && Number(row[0]) === from.bytes
}

/** Returns the ids that the database has: `present` for equal animals, `taken` for different ones. */
const findExisting = function* (
  dialect: Dialect,
  pets: ReadonlyArray<ImportedPet>
): SqlScript.Steps<{ readonly present: ReadonlySet<Int64>; readonly taken: ReadonlyArray<Int64> }> {
  const lastId = lastIdOf(yield [LAST_ID, []])
  const known = pets.filter(({ id }) => id !== undefined && id <= lastId)
  const stored = new Map((yield* dialect.find(known)).map((row) => [toInt64(row[0]), petOf(row)]))
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

interface Dialect {
  readonly page: string
  readonly findImport: string
  readonly lockImport: string
  readonly startImport: string
  readonly advance: string
  /** Ensures that later animals get ids above `id`. */
  readonly reserveIds: (id: Int64) => SqlScript.Steps<void>
  /** Prevents other processes from inserting animals until the transaction ends. */
  readonly lock: () => SqlScript.Steps<void>
  /** Returns the stored animals with the ids of `pets`. */
  readonly find: (pets: ReadonlyArray<ImportedPet>) => SqlScript.Steps<ReadonlyArray<Row>>
  readonly insert: (pets: ReadonlyArray<ImportedPet>, keepIds: boolean) => SqlScript.Steps<void>
}

const statements = (parameter: (index: number) => string) => ({
  page: `SELECT id, ${columns} FROM pets WHERE id > ${parameter(1)} AND id <= ${parameter(2)} ORDER BY id LIMIT ${parameter(3)}`,
  findImport: `SELECT keep_ids, bytes, lines, animals, prefix, completed_at FROM imports WHERE source = ${parameter(1)}`,
  startImport: `INSERT INTO imports (source, keep_ids, bytes, lines, animals, prefix)
    VALUES (${parameter(1)}, ${parameter(2)}, 0, 0, 0, '${beginning.prefix}')
    ON CONFLICT (source) DO UPDATE SET keep_ids = excluded.keep_ids, bytes = 0, lines = 0, animals = 0, prefix = excluded.prefix,
    completed_at = NULL WHERE imports.completed_at IS NOT NULL AND ${parameter(3)} = 1`,
  advance: `UPDATE imports SET ${["bytes", "lines", "animals", "prefix", "completed_at"]
    .map((column, index) => `${column} = ${parameter(index + 1)}`)
    .join(", ")} WHERE source = ${parameter(6)}`
})

const placeholders = (count: number): string => Array.from({ length: count }, () => "?").join(", ")

/**
 * Number of animals per SQLite statement: with one statement per animal, the overhead would exceed the cost of the
 * inserts.
 */
const CHUNK = 100

const insertMany = (count: number, keepIds: boolean): string => {
  const row = `(${placeholders(keepIds ? all.length + 1 : all.length)})`
  return `INSERT INTO pets (${keepIds ? "id, " : ""}${columns}) VALUES ${Array.from({ length: count }, () => row).join(", ")}`
}

const insertChunk = { kept: insertMany(CHUNK, true), new: insertMany(CHUNK, false) }

const sqlite: Dialect = {
  ...statements(() => "?"),
  lockImport: "SELECT bytes FROM imports WHERE source = ?",
  // Does nothing, because the transaction holds the write lock of the whole database.
  lock: function* () {},
  reserveIds: function* (id) {
    yield [
      `INSERT INTO sqlite_sequence (name, seq) SELECT 'pets', 0
       WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')`,
      []
    ]
    yield ["UPDATE sqlite_sequence SET seq = ? WHERE name = 'pets' AND seq < ?", [id, id]]
  },
  find: function* (pets) {
    const rows: Array<Row> = []
    for (const { id } of pets) rows.push(...(yield [`SELECT id, ${columns} FROM pets WHERE id = ?`, [id]]))
    return rows
  },
  insert: function* (pets, keepIds) {
    for (let from = 0; from < pets.length; from += CHUNK) {
      const chunk = pets.slice(from, from + CHUNK)
      const statement = keepIds ? insertChunk.kept : insertChunk.new
      const values: Array<unknown> = []
      for (const pet of chunk) {
        if (keepIds) values.push(pet.id)
        values.push(...valuesOf(pet))
      }
      yield [chunk.length === CHUNK ? statement : insertMany(chunk.length, keepIds), values]
    }
  }
}

const numberedParameter = (index: number): string => `$${index}`

const LOCK_ANIMALS = "LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE"

const SET_SEQUENCE = `SELECT setval(pg_get_serial_sequence('pets', 'id'), $1::bigint)
  WHERE $1::bigint > coalesce(pg_sequence_last_value(pg_get_serial_sequence('pets', 'id')), 0)`

const postgres: Dialect = {
  ...statements(numberedParameter),
  lockImport: "SELECT bytes FROM imports WHERE source = $1 FOR UPDATE",
  // Without the lock, another process could take one of the ids between the check and the insert.
  lock: function* () {
    yield [LOCK_ANIMALS, []]
  },
  reserveIds: function* (id) {
    yield [LOCK_ANIMALS, []]
    yield [SET_SEQUENCE, [id]]
  },
  find: function* (pets) {
    if (pets.length === 0) return []
    return yield [`SELECT id, ${columns} FROM pets WHERE id = ANY($1::bigint[])`, [pets.map(({ id }) => id)]]
  },
  insert: function* (pets, keepIds) {
    if (!keepIds) {
      yield [
        `INSERT INTO pets (${columns}) SELECT ${columns}
         FROM unnest(${PostgresPets.arrayParameters(1)}) WITH ORDINALITY AS new (${columns}, n) ORDER BY n`,
        PostgresPets.arraysOf(pets)
      ]
      return
    }
    const ids = pets.map(({ id }) => id)
    yield [
      `INSERT INTO pets (id, ${columns}) OVERRIDING SYSTEM VALUE
       SELECT id, ${columns} FROM unnest($1::bigint[], ${PostgresPets.arrayParameters(2)}) AS new (id, ${columns})`,
      [ids, ...PostgresPets.arraysOf(pets)]
    ]
    yield [SET_SEQUENCE, [ids.at(-1)]]
  }
}
