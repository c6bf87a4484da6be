/** Evaluates one law on one case, in bounded time. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Check } from "../checks/Check.ts"
import { type Failure, Violation } from "../evaluation/Outcome.ts"
import * as Trial from "../evaluation/Trial.ts"
import type { Subject } from "../subjects/Subject.ts"

/**
 * The result of an evaluation: `failure` is absent if the law held; `suiteError` is present if the suite itself failed.
 */
export interface Evaluation {
  readonly trial: Trial.Trial
  readonly failure: Failure | undefined
  readonly suiteError: string | undefined
}

const TIMEOUT_MS = 30_000

/** Milliseconds that an evaluation may take to end after its timeout; after that, it is abandoned and keeps running. */
const GRACE_MS = 250

/** Evaluates the law of a check on one case; never fails. A timeout, by default 30 s, is a violation of the law. */
export const evaluate = (
  check: Check,
  subject: Subject,
  given: unknown,
  token: string
): Effect.Effect<Evaluation> => {
  const trial = Trial.make(token)
  const { timeoutMs = TIMEOUT_MS } = check
  const timeoutViolation = () =>
    new Violation({
      expected: `every response within ${timeoutMs / 1_000} s`,
      actual: `none after ${trial.steps.at(-1)?.did ?? "opening the subject"}`
    })
  // A separate fiber, so that a subject that cannot be interrupted or never closes does not block the run.
  const bounded = Effect.gen(function* () {
    const law = yield* Effect.forkDetach(Effect.suspend(() => check.evaluate(subject, given, trial)))
    const exit = yield* Fiber.await(law).pipe(
      Effect.asSome,
      Effect.raceFirst(Effect.as(sleepWhileWorking(timeoutMs, subject), Option.none())),
      Effect.onInterrupt(() => Fiber.interrupt(law))
    )
    if (Option.isSome(exit)) return exit.value
    const failure = timeoutViolation()
    law.interruptUnsafe()
    yield* Effect.timeoutOption(Fiber.await(law), GRACE_MS)
    return Exit.fail(failure)
  })
  return Effect.map(bounded, (exit) => {
    if (Exit.isSuccess(exit)) return { trial, failure: undefined, suiteError: undefined }
    const failure = exit.cause.reasons.find(Cause.isFailReason)?.error
    const suiteError = failure === undefined ? Cause.pretty(exit.cause) : undefined
    return { trial, failure, suiteError }
  })
}

/** Sleeps for `ms` milliseconds of real time, not counting time in which the run waits for the subject's limits. */
const sleepWhileWorking = Effect.fnUntraced(function* (ms: number, { waitedMs = () => 0 }: Subject) {
  const startedAt = yield* Clock.currentTimeMillis
  const waitedBefore = waitedMs()
  let left = ms
  while (left > 0) {
    yield* Effect.sleep(left)
    left = ms - ((yield* Clock.currentTimeMillis) - startedAt - (waitedMs() - waitedBefore))
  }
})
