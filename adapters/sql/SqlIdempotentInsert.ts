/** Implements `insertOnce`: stores the animal and the record of its `Idempotency-Key` in one transaction. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlFailure from "./SqlFailure.ts"
import type { Values } from "./SqliteConnection.ts"
import { all, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import type * as SqlScript from "./SqlScript.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Maximum wait for another request with the same key (PostgreSQL), as a value of lock_timeout. */
const MAX_WAIT = "300ms"

/** Maximum number of expired records that an insert deletes: more than one, so that their number does not grow. */
const MAX_SWEPT = 4

/** Creates `insertOnce` in PostgreSQL; it returns `InProgress` and stores nothing if the key is not free within `MAX_WAIT`. */
export const postgres = (
  sql: SqlClient.SqlClient,
  call: SqlCall,
  insertPet: string
): Required<PetRepository["Service"]>["insertOnce"] => {
  const { find, record, sweep } = postgresStatements
  const insert = function* (pet: NewPet, once: Once.Once, progress: Progress): SqlScript.Steps<Once.Outcome> {
    const { caller, fingerprint, key, now } = once
    const [before] = yield [LIMIT_WAIT, []]
    progress.isAcquiring = true
    yield [ACQUIRE, [caller, key, before?.[0]]]
    progress.isAcquiring = false
    const rows = yield [find, [caller, key, now]]
    if (rows.length > 0) return repeated(rows, once)
    yield [sweep, [now]]
    const [inserted] = yield [insertPet, valuesOf(pet)]
    const id = toInt64(inserted?.[0])
    yield [record, [caller, key, fingerprint, now + Once.RETENTION_MS, id]]
    return { _tag: "Inserted", pet: new Pet(id, pet) }
  }
  return (pet, once) =>
    call.run(
      Effect.suspend(() => {
        const progress: Progress = { isAcquiring: false }
        return WriteTransaction.runSteps(sql, () => insert(pet, once, progress)).pipe(
          // If the connection is lost, the transaction may be committed; the next attempt then finds its record.
          Effect.retry({ times: 1, while: SqlFailure.isLostConnection }),
          Effect.catchIf(
            // Once the key is locked, a lock error can only come from a table, after the database's own lock_timeout.
            (error) => progress.isAcquiring && WriteTransaction.isLocked(error),
            () => Effect.succeed<Once.Outcome>({ _tag: "InProgress" })
          )
        )
      })
    )
}

/** The progress of a transaction. */
interface Progress {
  /** Whether it waits for the lock of its key. */
  isAcquiring: boolean
}

/** Sets the maximum wait, and returns the previous value. */
const LIMIT_WAIT = `SELECT current_setting('lock_timeout'), set_config('lock_timeout', '${MAX_WAIT}', true)`

/** Acquires the lock of a key, and restores the wait, so that a wait for a table does not count as a key in use. */
const ACQUIRE =
  "SELECT pg_advisory_xact_lock(hashtextextended($1 || chr(10) || $2, 6)), set_config('lock_timeout', $3, true)"

/** Returns the script of `insertOnce` in SQLite, which has one writer. */
export const script = (
  insertPet: string,
  pet: NewPet,
  { caller, fingerprint, key, now }: Once.Once
): SqlScript.Script => {
  const { find, record, sweep } = sqliteStatements
  return [
    [find, [caller, key, now], []],
    [sweep, [now]],
    [insertPet, valuesOf(pet)],
    [record, [caller, key, fingerprint, now + Once.RETENTION_MS]]
  ]
}

/** Returns the outcome of `script`. */
export const outcomeOf = (
  { isComplete, rows }: SqlScript.Outcome,
  pet: NewPet,
  once: Once.Once
): Once.Outcome =>
  isComplete ? { _tag: "Inserted", pet: new Pet(toInt64(rows[0]?.[0]), pet) } : repeated(rows, once)

/** Returns the outcome of an insert whose key has a record. */
const repeated = ([row = []]: Values, { fingerprint }: Once.Once): Once.Outcome => {
  const [storedFingerprint, ...stored] = row
  return storedFingerprint === fingerprint ? { _tag: "Replayed", pet: petOf(stored) } : { _tag: "Mismatch" }
}

const petColumns = all.map(({ name }) => `p.${name}`).join(", ")

const statements = (parameter: (index: number) => string, petId: string, sweep: string) => ({
  find: `SELECT i.fingerprint, p.id, ${petColumns} FROM idempotent_inserts i JOIN pets p ON p.id = i.pet_id
    WHERE i.caller = ${parameter(1)} AND i.key = ${parameter(2)} AND i.expires_at > ${parameter(3)}`,
  // If there is a record with this key, it has expired and is replaced.
  record: `INSERT INTO idempotent_inserts (caller, key, fingerprint, expires_at, pet_id)
    VALUES (${[1, 2, 3, 4].map(parameter).join(", ")}, ${petId})
    ON CONFLICT (caller, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, expires_at = excluded.expires_at
    RETURNING pet_id`,
  sweep
})

const sweepOf = (table: string, parameter: string, lock: string): string =>
  `DELETE FROM ${table} WHERE (caller, key) IN (
     SELECT caller, key FROM ${table} WHERE expires_at <= ${parameter}
     ORDER BY expires_at LIMIT ${MAX_SWEPT}${lock})`

/** Returns the statement that deletes some records of a table that expired at the time that is its parameter. */
export const sqliteSweep = (table: string): string => sweepOf(table, "?", "")

/** The same in PostgreSQL: skips rows that another transaction is deleting. */
export const postgresSweep = (table: string): string => sweepOf(table, "$1", " FOR UPDATE SKIP LOCKED")

const sqliteStatements = statements(() => "?", "last_insert_rowid()", sqliteSweep("idempotent_inserts"))

const postgresStatements = statements((index) => `$${index}`, "$5", postgresSweep("idempotent_inserts"))
