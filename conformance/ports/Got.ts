/** Makes one call of a port, and describes how it failed. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"

/** The result of a call: a value, a failure although the backend works, or unknown because of an interruption. */
export type Got<A> = { readonly value: A } | { readonly failed: string } | "interrupted"

/** Makes a call, and interrupts it after some turns of its fiber if `turns` is not null. */
export const of = Effect.fnUntraced(function* <A>(
  call: Effect.Effect<A, unknown>,
  turns: number | null,
  failure: A | undefined
): Effect.fn.Return<Got<A>> {
  const fiber = yield* Effect.forkChild(call)
  for (let turn = 0; turn < (turns ?? 0); turn++) yield* Effect.yieldNow
  if (turns !== null) yield* Fiber.interrupt(fiber)
  const exit = yield* Fiber.await(fiber)
  if (Exit.isSuccess(exit)) return { value: exit.value }
  if (turns !== null && Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  return failure === undefined ? { failed: failureText(exit.cause) } : { value: failure }
})

const failureText = (cause: Cause.Cause<unknown>): string => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (failure instanceof StoreUnavailable) return `StoreUnavailable: ${String(failure.cause)}`
  if (failure !== undefined) return `a failure that is not StoreUnavailable: ${String(failure)}`
  return Cause.hasInterruptsOnly(cause)
    ? "an interruption"
    : `a defect: ${Cause.pretty(cause).split("\n")[0]}`
}

export const UNAVAILABLE = "StoreUnavailable"

/** Describes the result of a call while the backend does not respond. */
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
