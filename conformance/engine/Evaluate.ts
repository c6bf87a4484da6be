/** One evaluation of one law on one case, in bounded time. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Check } from "../checks/Check.ts"
import type { Subject } from "../subjects/Subject.ts"
import { type Failure, Violation } from "./Outcome.ts"
import * as Trial from "./Trial.ts"

/** What became of it: `failure` is absent when the law held, `fault` is present when the suite itself failed. */
export interface Evaluation {
  readonly trial: Trial.Trial
  readonly failure: Failure | undefined
  readonly fault: string | undefined
}

const TIMEOUT_MS = 30_000

/** Evaluates; never fails. */
export const evaluate = (
  check: Check,
  subject: Subject,
  given: unknown,
  token: string
): Effect.Effect<Evaluation> => {
  const trial = Trial.make(token)
  const { timeoutMs = TIMEOUT_MS } = check
  const inTime = Effect.suspend(() => check.evaluate(subject, given, trial)).pipe(
    Effect.raceFirst(
      Effect.andThen(
        worked(timeoutMs, subject),
        Effect.suspend(() =>
          Effect.fail(
            new Violation({
              expected: `every answer within ${timeoutMs / 1_000} s`,
              actual: `none after ${trial.steps.at(-1)?.did ?? "opening the subject"}`
            })
          )
        )
      )
    )
  )
  return Effect.map(Effect.exit(inTime), (exit) => {
    if (Exit.isSuccess(exit)) return { trial, failure: undefined, fault: undefined }
    const failure = exit.cause.reasons.find(Cause.isFailReason)?.error
    const fault = failure === undefined ? Cause.pretty(exit.cause) : undefined
    return { trial, failure, fault }
  })
}

/** Lets so much real time pass, not counting what the subject's limits made the run wait for. */
const worked = Effect.fnUntraced(function* (ms: number, { waitedMs = () => 0 }: Subject) {
  const begun = yield* Clock.currentTimeMillis
  const waitedBefore = waitedMs()
  let left = ms
  while (left > 0) {
    yield* Effect.sleep(left)
    left = ms - ((yield* Clock.currentTimeMillis) - begun - (waitedMs() - waitedBefore))
  }
})
