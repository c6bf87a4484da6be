/** Makes calls of storage ports, and records them as steps of a trial. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { Violation } from "../evaluation/Outcome.ts"
import type { Trial } from "../evaluation/Trial.ts"

/**
 * Makes a call and returns its result. A failure or a defect is a violation, because the backend works.
 *
 * @param did The call in terms of the domain; it becomes a step of the trial.
 */
export const portCall = <A>(
  trial: Trial,
  did: string,
  call: () => Effect.Effect<A, StoreUnavailable>,
  show: (result: A) => string
): Effect.Effect<A, Violation> =>
  Effect.flatMap(Effect.exit(Effect.suspend(call)), (exit) => {
    if (Exit.isSuccess(exit)) {
      // At run time, the result may have another type, so `show` can throw.
      const shown = Result.try(() => show(exit.value))
      const got = Result.getOrElse(shown, (error) => `a result of another form: ${String(error)}`)
      trial.record({ did, got })
      return Result.isSuccess(shown)
        ? Effect.succeed(exit.value)
        : Effect.fail(new Violation({ expected: `a complete result of ${did}`, actual: got }))
    }
    if (Cause.hasInterruptsOnly(exit.cause)) return Effect.interrupt
    const failure = exit.cause.reasons.find(Cause.isFailReason)?.error
    const got =
      failure === undefined
        ? `a defect: ${Cause.pretty(exit.cause).split("\n")[0]}`
        : `StoreUnavailable: ${String(failure.cause)}`
    trial.record({ did, got })
    return Effect.fail(new Violation({ expected: `a result of ${did}`, actual: got }))
  })
