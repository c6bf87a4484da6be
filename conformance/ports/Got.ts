/** Makes one call of a port, and describes what came of it. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"

/** The result of a call: an output, a failure although the backend works, or unknown because of an interruption. */
export type Got<Output> = { readonly output: Output } | { readonly failed: string } | "unknown"

/** Runs a call, interrupts it after some turns of its fiber, and returns its exit. */
export const exitOf = Effect.fnUntraced(function* <A, E>(call: Effect.Effect<A, E>, turns: number | null) {
  if (turns === null) return yield* Effect.exit(call)
  const fiber = yield* Effect.forkChild(call)
  for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
  yield* Fiber.interrupt(fiber)
  return yield* Fiber.await(fiber)
})

export const of = <Output>(
  exit: Exit.Exit<Output, unknown>,
  isInterrupted: boolean,
  show: (output: Output) => string
): Got<Output> => {
  if (Exit.isSuccess(exit)) {
    // At run time, the result may have another type, so `show` can throw.
    const shown = Result.try(() => show(exit.value))
    return Result.isSuccess(shown)
      ? { output: exit.value }
      : { failed: `a result of another form: ${String(shown.failure)}` }
  }
  return isInterrupted && Cause.hasInterruptsOnly(exit.cause)
    ? "unknown"
    : { failed: failureText(exit.cause) }
}

const failureText = (cause: Cause.Cause<unknown>): string => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (failure instanceof StoreUnavailable) return `StoreUnavailable: ${String(failure.cause)}`
  if (failure !== undefined) return `a failure that is not StoreUnavailable: ${String(failure)}`
  return Cause.hasInterruptsOnly(cause)
    ? "an interruption"
    : `a defect: ${Cause.pretty(cause).split("\n")[0]}`
}

export const UNAVAILABLE = "StoreUnavailable"

export const duringOutage = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "a result, as if nothing were wrong"
  const isTyped = exit.cause.reasons.every(
    (reason) =>
      Cause.isFailReason(reason) &&
      reason.error instanceof StoreUnavailable &&
      typeof reason.error.retryable === "boolean"
  )
  return isTyped && exit.cause.reasons.length > 0 ? UNAVAILABLE : failureText(exit.cause)
}
