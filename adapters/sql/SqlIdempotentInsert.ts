/** Implements `insertOnce`: stores the animal and the record of its `Idempotency-Key` in one transaction. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlFailure from "./SqlFailure.ts"
import { all, petOf, toInt64, valuesOf } from "./SqlPetRow.ts"
import type * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Waits for another request with the same key (PostgreSQL). */
const WAIT = Schedule.upTo(Schedule.spaced("10 millis"), { duration: "300 millis" })

/** Maximum number of expired records that an insert deletes: more than one, so that their number does not grow. */
const MAX_SWEPT = 4

/** Creates `insertOnce` in PostgreSQL; it returns `InProgress` and stores nothing if the key is not free within `WAIT`. */
export const postgres = (
  sql: SqlClient.SqlClient,
  call: SqlCall,
  insertPet: string
): Required<PetRepository["Service"]>["insertOnce"] => {
  const scriptOf = make(sql, insertPet)
  return (pet, once) => {
    const script = scriptOf(pet, once)
    const [[find, parameters]] = script
    const insert = WriteTransaction.execute(sql, [[ACQUIRE, [once.caller, once.key], [[true]]], ...script])
    // The record is read without the lock, which requests that only find it would otherwise take from each other.
    const findOrInsert = Effect.flatMap(SqlTable.query(sql, find, parameters), (rows) =>
      rows.length === 0 ? insert : Effect.succeed({ isComplete: false, rows })
    )
    const attempt = (outcome: Effect.Effect<SqlScript.Outcome, SqlError>) =>
      outcome.pipe(
        // If the connection is lost, the transaction may be committed; the next attempt then finds its record.
        Effect.retry({ times: 1, while: SqlFailure.isLostConnection }),
        Effect.map((outcome) => outcomeOf(outcome, pet, once))
      )
    return call.run(
      Effect.flatMap(attempt(insert), (outcome) =>
        isInProgress(outcome)
          ? Effect.repeat(attempt(findOrInsert), { while: isInProgress, schedule: WAIT })
          : Effect.succeed(outcome)
      )
    )
  }
}

const isInProgress = ({ _tag }: Once.Outcome): boolean => _tag === "InProgress"

/** Acquires the lock of a key until the transaction ends, unless another transaction has it. */
const ACQUIRE = "SELECT pg_try_advisory_xact_lock(hashtextextended($1 || chr(10) || $2, 6))"

/**
 * Creates the function that returns the script of `insertOnce`, which first looks for the record. SQLite has one writer;
 * in PostgreSQL, the transaction must have the lock of the key.
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
  return (
    pet: NewPet,
    { caller, fingerprint, key, now }: Once.Once
  ): readonly [find: SqlScript.Statement, ...rest: SqlScript.Script] => [
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
  if (first === false) return { _tag: "InProgress" }
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
