/** Replays the case of an earlier failure. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import { ambientChecks, checks } from "../checks/Checks.ts"
import { Violation } from "../evaluation/Outcome.ts"
import * as Trial from "../evaluation/Trial.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import { examineExchanges, Requests } from "./Ambient.ts"
import * as Case from "./Case.ts"
import { type Evaluation, evaluate } from "./Evaluate.ts"
import type { ReplayToken } from "./ReplayToken.ts"
import { tokens } from "./Run.ts"
import * as Selection from "./Selection.ts"

/**
 * - `fixed`: the law now holds.
 * - `failed`: the law still fails.
 * - `not-replayable`: the case cannot be replayed on this subject.
 */
export type Replayed =
  | { readonly outcome: "fixed" | "failed"; readonly evaluation: Evaluation }
  | { readonly outcome: "not-replayable"; readonly reason: string }

/** Maximum number of requests that are sent to use up a key's limit. */
const MAX_REPEATS = 200

/** Number of tries in which the law must hold before the case counts as fixed: failures may be intermittent. */
const TRIES = 3

/** Replays the case of a token on a subject; stops at the first try that fails or cannot be decided. */
export const replay = Effect.fnUntraced(function* (
  subject: Subject,
  token: ReplayToken
): Effect.fn.Return<Replayed> {
  const ambient = ambientChecks.find(({ id }) => id === token.check)
  if (ambient !== undefined) return yield* resend(ambient, subject, token)
  const check = checks.find(({ id }) => id === token.check)
  if (check === undefined) return notReplayable(`the check ${token.check} does not exist`)
  if (!(check.on in subject.interfaces))
    return notReplayable(`${check.id} is a check of ${check.on}, which the subject does not have`)
  const missing = Selection.missing(check, subject)
  if (missing.length > 0) return notReplayable(`${check.id} needs ${missing.join(" and ")}`)
  const given = Result.try(() => Case.decode(token.case))
  if (Result.isFailure(given)) return notReplayable("the token contains no case")
  const nextToken = yield* tokens
  let lastEvaluation: Evaluation | undefined
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const evaluation = yield* evaluate(check, subject, given.success, nextToken())
    const { failure, suiteError } = evaluation
    if (suiteError !== undefined) return notReplayable(suiteError)
    if (failure?._tag === "Violation") return { outcome: "failed", evaluation }
    if (failure !== undefined) return notReplayable(failure.reason)
    lastEvaluation = evaluation
  }
  return lastEvaluation === undefined
    ? notReplayable("nothing was tried")
    : { outcome: "fixed", evaluation: lastEvaluation }
})

/** Repeats the requests that led to a violating exchange, and examines the new exchanges. */
const resend = Effect.fnUntraced(function* (
  check: AmbientCheck,
  subject: Subject,
  token: ReplayToken
): Effect.fn.Return<Replayed> {
  const requests = Option.flatMap(
    Result.getSuccess(Result.try(() => Case.decode(token.case))),
    Schema.decodeUnknownOption(Requests)
  )
  if (!HttpSubject.is(subject) || Option.isNone(requests))
    return notReplayable("these requests cannot be sent")
  const trial = Trial.make("replay")
  for (const { status, ...sent } of requests.value) {
    // To reproduce a 429, the key's limit is used up first.
    const maxRequests = status === 429 ? MAX_REPEATS : 1
    let latest: number | undefined
    for (let sends = 0; sends < maxRequests && latest !== status; sends++) {
      const exchange = yield* Effect.result(subject.conversation.send(sent, trial))
      if (Result.isFailure(exchange)) return notReplayable(exchange.failure.message)
      latest = exchange.success.response.status
    }
    if (latest !== status) {
      return notReplayable(`${sent.method} ${sent.path} got ${status} in the run, but gets ${latest} now`)
    }
  }
  const { counterexample, reason, status: outcome } = examineExchanges(check, subject)
  if (outcome === "inconclusive" || outcome === "error") return notReplayable(reason ?? outcome)
  return counterexample === undefined
    ? { outcome: "fixed", evaluation: { trial, failure: undefined, suiteError: undefined } }
    : {
        outcome: "failed",
        evaluation: {
          trial,
          failure: new Violation({ expected: counterexample.expected, actual: counterexample.actual }),
          suiteError: undefined
        }
      }
})

const notReplayable = (reason: string): Replayed => ({ outcome: "not-replayable", reason })
