/**
 * Batches calls to PostgreSQL: calls that arrive while statements are in progress share the next statement. A call
 * whose value is rejected does not affect the other calls of its statement.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import * as Batch from "../storage/Batch.ts"
import { CallObserver } from "../storage/CallObserver.ts"
import * as SqlFailure from "./SqlFailure.ts"

/** The statement for a kind of call, and its limits. */
export interface Options<Call, A> {
  readonly statement: Statement<Call, A>
  /**
   * Whether the statement is repeated once if its connection is lost, although it may have taken effect. False by
   * default: then all its calls fail.
   */
  readonly isRepeatable?: boolean
  /** Maximum number of statements in progress. */
  readonly concurrency?: number
}

/**
 * Executes calls in one statement, and returns a function for each of them, in order, that decodes its result. It may
 * throw after the statement was sent only if the statement can be repeated.
 */
export type Statement<Call, A> = (
  calls: ReadonlyArray<Call>
) => Effect.Effect<ReadonlyArray<() => A>, SqlError>

type Exits<A> = Effect.Effect<ReadonlyArray<Exit.Exit<A, SqlError>>, SqlError>

/** Submits a call; see `Batch.Submit`. */
export type Submit<Call, A> = Batch.Submit<Call, A, SqlError>

/** Maximum number of calls in a statement: larger ones save no CPU time per call, but all their calls wait longer. */
const MAX_SIZE = 64

/** Default for `concurrency`: one statement runs while the results of the other are processed. */
const CONCURRENCY = 2

/**
 * Creates a submit function in the context of the caller, as `Batch.make` does. If PostgreSQL or the driver rejects a
 * value of one call, the statement is repeated in halves until only that call fails.
 */
export const make = Effect.fnUntraced(function* <Call, A>(
  { concurrency = CONCURRENCY, isRepeatable = false, statement }: Options<Call, A>,
  onIdle?: () => void
): Effect.fn.Return<Submit<Call, A>> {
  const observer = yield* CallObserver
  const isolated = isolateFailures(decoded(isRepeatable ? repeated(statement) : statement))
  return yield* Batch.make<Call, A, SqlError>(
    {
      maxSize: MAX_SIZE,
      concurrency,
      run: ({ take }) => {
        const calls = take()
        if (calls.length === 0) return Effect.succeed([])
        observer?.committed(calls.length)
        return isolated(calls)
      }
    },
    onIdle
  )
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

const repeated =
  <Call, A>(statement: Statement<Call, A>): Statement<Call, A> =>
  (calls) =>
    Effect.catchIf(statement(calls), SqlFailure.isLostConnection, () => statement(calls))

/** A failure to decode a result is a defect only in the call that has this result. */
const decoded =
  <Call, A>(statement: Statement<Call, A>) =>
  (calls: ReadonlyArray<Call>): Exits<A> =>
    Effect.map(statement(calls), (decoders) => decoders.map(exitOf))

const exitOf = <A>(decode: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(decode())
  } catch (defect) {
    return Exit.die(defect)
  }
}

const isolateFailures =
  <Call, A>(statement: (calls: ReadonlyArray<Call>) => Exits<A>) =>
  (calls: ReadonlyArray<Call>): Exits<A> =>
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
const isFromOneCall = (reason: Cause.Reason<SqlError>): boolean =>
  Cause.isDieReason(reason) || (Cause.isFailReason(reason) && SqlFailure.causeOf(reason.error) === "data")
