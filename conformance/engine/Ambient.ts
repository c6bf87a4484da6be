/** Runs the checks of every exchange on the exchanges of a run. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import { MAX_SHOWN, type Violation } from "../evaluation/Outcome.ts"
import * as Excerpt from "../http/Excerpt.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import * as Conversation from "../subjects/Conversation.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Case from "./Case.ts"
import { resultOf } from "./CheckResults.ts"
import * as ReplayToken from "./ReplayToken.ts"
import type { CheckResult, Counterexample, Status } from "./Report.ts"

/** Number of earlier exchanges that a counterexample shows before the violating exchange. */
const CONTEXT = 1

/**
 * The requests that reproduce a violating exchange: the previous request with the same key, if any, and its own
 * request. Their `Authorization` headers are omitted.
 */
export const Requests = Schema.Array(
  Schema.Struct({
    method: Schema.String,
    path: Schema.String,
    key: Schema.Literals(["main", "tiny", "victim", "revoked", "expired", "none"]),
    headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
    body: Schema.optionalKey(Schema.Uint8Array),
    /** The status of the response in the run; a replay with another status is not comparable. */
    status: Schema.Int
  })
)

/** The findings of a check: how many exchanges it applies to, how many violate it, and the first violation. */
interface Findings {
  readonly applicable: number
  readonly violations: number
  readonly counterexample: Counterexample | undefined
}

const examineAll = (check: AmbientCheck, subject: Subject): Findings => {
  const histories = new Map<KeyName, Array<Exchange>>()
  let applicable = 0
  let violations = 0
  let lastMadeUpIndex = -1
  const examineNext = check.begin?.()
  let counterexample: Counterexample | undefined
  for (const exchange of subject.exchanges) {
    const history = histories.get(exchange.key) ?? []
    histories.set(exchange.key, history)
    const latest = history.at(-1)
    const isNext = latest !== undefined && latest.index > lastMadeUpIndex
    const previous = exchange.isAlone && isNext && latest.isAlone ? latest : undefined
    // The subject may accept a made-up credential as a declared key, and count the request against that key.
    if (exchange.key === "other") lastMadeUpIndex = exchange.index
    const examined = examineNext?.(exchange)
    if (examineNext === undefined ? check.isAbout(exchange, previous, history) : examined !== undefined) {
      applicable++
      const violation =
        examineNext === undefined ? check.examine(exchange, previous, history) : examined?.violation
      if (violation !== undefined) {
        violations++
        counterexample ??= counterexampleOf(check, subject, [...history.slice(-CONTEXT), exchange], violation)
      }
    }
    history.push(exchange)
  }
  return { applicable, violations, counterexample }
}

/**
 * Runs one check on all exchanges of a subject so far; the first violation is the counterexample. If the law applies to
 * none of them, the result is inconclusive, or not applicable if the check gives a reason.
 */
export const examineExchanges = (check: AmbientCheck, subject: Subject): CheckResult => {
  const count = subject.exchanges.length
  const finish = (
    status: Status,
    reason: string | undefined,
    applicable: number,
    counterexample?: Counterexample
  ): CheckResult =>
    resultOf(
      { ...check, profile: check.profile ?? "core" },
      {
        status,
        reason,
        isPostponed: status === "not-applicable",
        runs: { planned: count, executed: applicable, decided: applicable },
        counterexample
      }
    )
  if (count === 0) return finish("inconclusive", "nothing was sent", 0)
  const examined = Result.try(() => examineAll(check, subject))
  // No response may crash the suite; a check that throws is a bug of the suite.
  if (Result.isFailure(examined)) return finish("error", String(examined.failure), 0)
  const { applicable, counterexample, violations } = examined.success
  if (applicable === 0) {
    const reason = check.inapplicable?.(subject.exchanges)
    return reason === undefined
      ? finish("inconclusive", "the law applied to no exchange of the run", 0)
      : finish("not-applicable", reason, 0)
  }
  if (counterexample === undefined) return finish("pass", undefined, applicable)
  const { actual, expected } = counterexample
  const reason = `expected ${expected}, got ${actual} (in ${violations} of ${count} exchanges)`
  return finish("fail", reason, applicable, counterexample)
}

const counterexampleOf = (
  check: AmbientCheck,
  subject: Subject,
  exchanges: ReadonlyArray<Exchange>,
  violation: Violation
): Counterexample => {
  const expected = Excerpt.words(violation.expected, MAX_SHOWN)
  const actual = Excerpt.words(violation.actual, MAX_SHOWN)
  const steps = exchanges.map((exchange) => ({
    did: describeRequest(exchange),
    got: Conversation.outcome(exchange.response),
    exchange
  }))
  const text = Case.encode(exchanges.map((exchange) => requestToRepeat(exchange, subject.basePath ?? "")))
  // Made-up credentials are never reported, because they may differ from a key by one letter.
  const hasSecret = subject.redact !== undefined && subject.redact(text) !== text
  const isRepeatable = !hasSecret && exchanges.every(({ key }) => key !== "other")
  return {
    expected,
    actual,
    clause: undefined,
    case: text,
    steps: steps.map(({ did, got }) => ({ did, got })),
    reproduced: { times: 0, of: 0 },
    found: { runs: 0, shrinks: 0 },
    script: subject.script?.({ check: check.id, law: check.law, expected, actual, steps }),
    token: isRepeatable ? ReplayToken.encode({ check: check.id, case: text }) : undefined
  }
}

const requestToRepeat = ({ key, request, response }: Exchange, basePath: string) => ({
  method: request.method,
  path: request.target.slice(basePath.length),
  key,
  headers: request.headers.filter(([name]) => name.toLowerCase() !== "authorization"),
  ...(request.body === undefined ? {} : { body: request.body }),
  status: response.status
})

const describeRequest = ({ did, request: { method, target } }: Exchange): string =>
  did ?? `${method} ${target}`
