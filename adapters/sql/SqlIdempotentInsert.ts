/** Implements `insertOnce`: stores the animal and the record of its `Idempotency-Key` in one transaction. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Once from "../../core/idempotency/Once.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlFailure from "./SqlFailure.ts"
import { all, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Maximum wait for another request with the same key (PostgreSQL), as a value of lock_timeout. */
const MAX_WAIT = "300ms"

/** Maximum number of expired records that an insert deletes: more than one, so that their number does not grow. */
const MAX_SWEPT = 4

/** The statements of one transaction. */
interface Statements {
  /** Waits for another transaction with the same key; absent for SQLite, which has one writer. */
  readonly lock?: {
    /** Sets the maximum wait, and returns the previous value. */
    readonly limitWait: string
    /** Acquires the lock, and then restores the previous maximum wait. */
    readonly acquire: string
  }
  readonly find: string
  readonly record: string
  readonly sweep: string
}

/** Creates `insertOnce`, which returns `InProgress` and stores nothing if the lock is not free within `MAX_WAIT`. */
export const make = (
  sql: SqlClient.SqlClient,
  call: SqlCall,
  insertPet: string
): ((pet: NewPet, once: Once.Once) => Effect.Effect<Once.Outcome, StoreUnavailable>) => {
  const statements = sql.onDialectOrElse({ pg: () => postgres, orElse: () => sqlite })
  return (pet, once) =>
    call.run(
      Effect.suspend(() => {
        const progress: Progress = { isAcquiring: false }
        return WriteTransaction.runSteps(sql, () => insert(statements, insertPet, pet, once, progress)).pipe(
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

const insert = function* (
  { find, lock, record, sweep }: Statements,
  insertPet: string,
  newPet: NewPet,
  { caller, fingerprint, key, now }: Once.Once,
  progress: Progress
): WriteTransaction.Steps<Once.Outcome> {
  if (lock !== undefined) {
    const [before] = yield [lock.limitWait, []]
    progress.isAcquiring = true
    yield [lock.acquire, [caller, key, before?.[0]]]
    progress.isAcquiring = false
  }
  const [row] = yield [find, [caller, key, now]]
  if (row !== undefined) {
    const [storedFingerprint, ...stored] = row
    return storedFingerprint === fingerprint ? { _tag: "Replayed", pet: petOf(stored) } : { _tag: "Mismatch" }
  }
  yield [sweep, [now]]
  const [inserted] = yield [insertPet, valuesOf(newPet)]
  const id = toInt64(inserted?.[0])
  yield [record, [caller, key, fingerprint, id, now + Once.RETENTION_MS]]
  return { _tag: "Inserted", pet: new Pet(id, newPet) }
}

const petColumns = all.map(({ name }) => `p.${name}`).join(", ")

const statements = (parameter: (index: number) => string, sweep: string): Statements => ({
  find: `SELECT i.fingerprint, p.id, ${petColumns} FROM idempotent_inserts i JOIN pets p ON p.id = i.pet_id
    WHERE i.caller = ${parameter(1)} AND i.key = ${parameter(2)} AND i.expires_at > ${parameter(3)}`,
  // If there is a record with this key, it has expired and is replaced.
  record: `INSERT INTO idempotent_inserts (caller, key, fingerprint, pet_id, expires_at)
    VALUES (${[1, 2, 3, 4, 5].map(parameter).join(", ")})
    ON CONFLICT (caller, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, expires_at = excluded.expires_at`,
  sweep
})

const sqlite = statements(
  () => "?",
  `DELETE FROM idempotent_inserts WHERE (caller, key) IN (
     SELECT caller, key FROM idempotent_inserts WHERE expires_at <= ? ORDER BY expires_at LIMIT ${MAX_SWEPT})`
)

const postgres: Statements = {
  ...statements(
    (index) => `$${index}`,
    // Skips rows that another transaction is deleting.
    `DELETE FROM idempotent_inserts WHERE (caller, key) IN (
       SELECT caller, key FROM idempotent_inserts WHERE expires_at <= $1
       ORDER BY expires_at LIMIT ${MAX_SWEPT} FOR UPDATE SKIP LOCKED)`
  ),
  lock: {
    limitWait: `SELECT current_setting('lock_timeout'), set_config('lock_timeout', '${MAX_WAIT}', true)`,
    // Restores the wait afterwards, so that a later wait for a table does not count as a key in use.
    acquire:
      "SELECT pg_advisory_xact_lock(hashtextextended($1 || chr(10) || $2, 6)), set_config('lock_timeout', $3, true)"
  }
}
