/** Transactions that write, in the way of each dialect. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as SqliteClient from "./SqliteClient.ts"

/** Milliseconds before a database that another process is writing to is tried again: from the first to the longest. */
export const lockedPauseMs = { first: 1, longest: 25 } as const

/** Whether another process is writing to the SQLite database just now. */
export const isLocked = ({ reason }: SqlError): boolean => reason._tag === "LockTimeoutError"

/** One attempt under SQLite's write lock, in one go, so that nobody in this process finds the database locked by it. */
export const immediate = <A, R>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, SqlError, R>
): Effect.Effect<A, SqlError, R> =>
  sql.withTransaction(work).pipe(
    // A deferred transaction that reads first fails when it comes to write after somebody else.
    Effect.provideService(SqlClient.BeginTransaction, "BEGIN IMMEDIATE"),
    Effect.provideService(References.PreventSchedulerYield, true)
  )

/**
 * A transaction that asks for one statement after the other and is given the rows of each, as their values; integers are
 * exact, numbers or bigints.
 */
export type Steps<A> = Generator<
  readonly [sql: string, params: ReadonlyArray<unknown>],
  A,
  SqliteClient.Values
>

/**
 * One attempt at a transaction under SQLite's write lock: without a fiber where the client can, else statement by
 * statement. `begin` is called once it has begun.
 */
export const steps = <A>(sql: SqlClient.SqlClient, begin: () => Steps<A>): Effect.Effect<A, SqlError> =>
  Effect.suspend(
    () =>
      SqliteClient.directOf(sql)?.transact((run) => {
        const transaction = begin()
        let step = transaction.next()
        while (step.done !== true) step = transaction.next(run(...step.value))
        return step.value
      }) ?? immediate(sql, eachStep(sql, begin))
  )

const eachStep = <A>(sql: SqlClient.SqlClient, begin: () => Steps<A>): Effect.Effect<A, SqlError> =>
  Effect.gen(function* () {
    const own = yield* connection(sql)
    const transaction = begin()
    let step = transaction.next()
    while (step.done !== true) step = transaction.next(yield* own.executeValues(...step.value))
    return step.value
  }).pipe(Effect.provideService(SqlClient.SafeIntegers, true))

/** The connection of the transaction that this runs in: statements that find it by themselves cost five times as much. */
export const connection = (sql: SqlClient.SqlClient): Effect.Effect<SqlConnection.Connection> =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), (transaction) =>
    Option.isSome(transaction)
      ? Effect.succeed(transaction.value[0])
      : Effect.die(new Error("there is no transaction"))
  )

const whileLocked = Schedule.min([
  Schedule.exponential(lockedPauseMs.first),
  Schedule.spaced(lockedPauseMs.longest)
])

/** A transaction; with SQLite it waits until other processes have written theirs. */
export const run = <A>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, SqlError>
): Effect.Effect<A, SqlError> =>
  sql.onDialectOrElse({
    pg: () => sql.withTransaction(work),
    orElse: () => Effect.retry(immediate(sql, work), { while: isLocked, schedule: whileLocked })
  })
