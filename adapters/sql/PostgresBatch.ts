/**
 * Batches calls to PostgreSQL: calls that arrive while statements are in progress share the next statement. A call
 * whose value is rejected does not affect the other calls of its statement.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"
import * as Batch from "../storage/Batch.ts"
import { CallObserver } from "../storage/CallObserver.ts"

/** The statement for a kind of call, and its limits. */
export interface Options<Call, A> {
  /**
   * Executes the calls in one statement and returns an exit for each, in order. It may throw after the statement was
   * sent only if the statement can be repeated.
   */
  readonly statement: Statement<Call, A>
  /** Maximum number of calls in a statement. */
  readonly maxSize?: number
  /** Maximum number of statements in progress. */
  readonly concurrency?: number
}

/** Executes calls in one statement. */
export type Statement<Call, A> = (
  calls: ReadonlyArray<Call>
) => Effect.Effect<ReadonlyArray<Exit.Exit<A, SqlError>>, SqlError>

/** Submits a call; see `Batch.Submit`. */
export type Submit<Call, A> = Batch.Submit<Call, A, SqlError>

/** Default for `maxSize`: larger statements save no CPU time per call, but all their calls wait longer. */
const MAX_SIZE = 64

/** Default for `concurrency`: one statement runs while the results of the other are processed. */
const CONCURRENCY = 2

/**
 * Creates a submit function. If PostgreSQL or the driver rejects a value of one call, the statement is repeated in
 * halves until only that call fails. If the connection fails, all calls of the statement fail and none is repeated,
 * because they may have taken effect.
 */
export const make = <Call, A>({
  concurrency = CONCURRENCY,
  maxSize = MAX_SIZE,
  statement
}: Options<Call, A>): Effect.Effect<Submit<Call, A>> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const observer = Context.get(context, CallObserver)
    return Batch.make({
      maxSize,
      concurrency,
      run: ({ take }) =>
        runDetached(() => {
          const calls = take()
          if (calls.length === 0) return Effect.succeed([])
          observer?.committed(calls.length)
          return isolateFailures(statement)(calls)
        })
    })
  })

/** Returns a statement that uses `single`, the simpler form, for a single call, and `several` otherwise. */
export const oneOrMore =
  <Call, A>(
    single: (call: Call) => ReturnType<Statement<Call, A>>,
    several: Statement<Call, A>
  ): Statement<Call, A> =>
  (calls) => {
    const [first] = calls
    return calls.length === 1 && first !== undefined ? single(first) : several(calls)
  }

const isolateFailures =
  <Call, A>(statement: Statement<Call, A>): Statement<Call, A> =>
  (calls) =>
    Effect.catchCause(
      Effect.suspend(() => statement(calls)),
      (cause) => {
        if (calls.length === 1 || !cause.reasons.some(isFromOneCall)) return Effect.failCause(cause)
        const middle = Math.ceil(calls.length / 2)
        const half = (part: ReadonlyArray<Call>) =>
          Effect.catchCause(isolateFailures(statement)(part), (cause) =>
            Effect.succeed(part.map(() => Exit.failCause(cause)))
          )
        return Effect.zipWith(half(calls.slice(0, middle)), half(calls.slice(middle)), (first, second) => [
          ...first,
          ...second
        ])
      }
    )

/** Whether a value of one call may have caused the failure, so that the statement had no effect. */
const isFromOneCall = (reason: Cause.Reason<SqlError>): boolean => {
  if (Cause.isDieReason(reason)) return true
  if (!Cause.isFailReason(reason)) return false
  const { cause, message } = reason.error.reason
  if (cause instanceof PgTypes.CodecError) return message === ENCODING_FAILED
  return Predicate.hasProperty(cause, "code") && VALUE_ERRORS.test(String(cause.code))
}

const ENCODING_FAILED = "PgConnection: Failed to encode query"

/** SQLSTATE classes: data exceptions, violated constraints, program limits. */
const VALUE_ERRORS = /^(22|23|54)/

/**
 * Runs a statement in a separate fiber, so that an interruption does not wait until the statement has stopped: the
 * driver may need seconds to cancel it.
 */
const runDetached = <A, E>(statement: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.withFiber((parent) =>
    Effect.callback((resume) => {
      const fiber = Effect.runForkWith(parent.context)(Effect.suspend(statement))
      fiber.addObserver(resume)
      return Effect.sync(() => fiber.interruptUnsafe())
    })
  )
