/** Implements `insertOnce`: stores the animal and the record of its `Idempotency-Key` in one transaction. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlFailure from "./SqlFailure.ts"
import { all, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"
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
  const scriptOf = make(sql, insertPet)
  const insert = function* (pet: NewPet, once: Once.Once, progress: Progress): SqlScript.Steps<Once.Outcome> {
    const [before] = yield [LIMIT_WAIT, []]
    progress.isAcquiring = true
    yield [ACQUIRE, [once.caller, once.key, before?.[0]]]
    progress.isAcquiring = false
    return outcomeOf(yield* SqlScript.steps(scriptOf(pet, once)), pet, once)
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

interface Progress {
  /** Whether it waits for the lock of its key. */
  isAcquiring: boolean
}

/** Sets the maximum wait, and returns the previous value. */
const LIMIT_WAIT = `SELECT current_setting('lock_timeout'), set_config('lock_timeout', '${MAX_WAIT}', true)`

/** Acquires the lock of a key, and restores the wait, so that a wait for a table does not count as a key in use. */
const ACQUIRE =
  "SELECT pg_advisory_xact_lock(hashtextextended($1 || chr(10) || $2, 6)), set_config('lock_timeout', $3, true)"

/**
 * Creates the function that returns the script of `insertOnce`. SQLite has one writer; in PostgreSQL, the transaction
 * must have the lock of the key.
 */
export const make = (sql: SqlClient.SqlClient, insertPet: string) => {
  const petColumns = all.map(({ name }) => `p.${name}`).join(", ")
  const find = SqlTable.textFor(
    sql,
    `SELECT i.fingerprint, p.id, ${petColumns} FROM idempotent_inserts i JOIN pets p ON p.id = i.pet_id
     WHERE i.caller = $1 AND i.key = $2 AND i.expires_at > $3`
  )
  const sweep = sweepOf(sql, "idempotent_inserts")
  const insertedId = SqlTable.isPostgres(sql)
    ? "currval(pg_get_serial_sequence('pets', 'id'))"
    : "last_insert_rowid()"
  // If there is a record with this key, it has expired and is replaced.
  const record = SqlTable.textFor(
    sql,
    `INSERT INTO idempotent_inserts (caller, key, fingerprint, expires_at, pet_id)
     VALUES ($1, $2, $3, $4, ${insertedId})
     ON CONFLICT (caller, key) DO UPDATE SET
       fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, expires_at = excluded.expires_at
     RETURNING pet_id`
  )
  return (pet: NewPet, { caller, fingerprint, key, now }: Once.Once): SqlScript.Script => [
    [find, [caller, key, now], []],
    [sweep, [now]],
    [insertPet, valuesOf(pet)],
    [record, [caller, key, fingerprint, now + Once.RETENTION_MS]]
  ]
}

/** Returns the outcome of the script. */
export const outcomeOf = (
  { isComplete, rows }: SqlScript.Outcome,
  pet: NewPet,
  once: Once.Once
): Once.Outcome => {
  const [first, ...stored] = rows[0] ?? []
  if (isComplete) return { _tag: "Inserted", pet: new Pet(toInt64(first), pet) }
  return first === once.fingerprint ? { _tag: "Replayed", pet: petOf(stored) } : { _tag: "Mismatch" }
}

/** Returns the statement that deletes some records of a table that expired at the time that is its parameter. */
export const sweepOf = (sql: SqlClient.SqlClient, table: string): string =>
  SqlTable.textFor(
    sql,
    `DELETE FROM ${table} WHERE (caller, key) IN (
       SELECT caller, key FROM ${table} WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${MAX_SWEPT}
       ${SqlTable.isPostgres(sql) ? "FOR UPDATE SKIP LOCKED" : ""})`
  )
