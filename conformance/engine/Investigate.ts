/** All evaluations of one check: its boundary examples, then random cases, then the smallest failing one again. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import type { Check } from "../checks/Check.ts"
import type { CheckResult, Counterexample, Status } from "../reports/Report.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Case from "./Case.ts"
import { type Evaluation, evaluate } from "./Evaluate.ts"
import { Violation } from "./Outcome.ts"
import * as ReplayToken from "./ReplayToken.ts"

export interface Options {
  /** Of the run; each check draws its own from it, so that one alone meets the same cases as among others. */
  readonly seed: number
  /** Most evaluations with random cases; each check has its own number, which this may lower. */
  readonly runs: number | undefined
  /** Ms that the random phase may take, shrinking included. */
  readonly timeLimitMs: number
  /** A new mark for each evaluation. */
  readonly nextToken: () => string
}

/** How often a failing case is tried again, to tell the steady from the intermittent. */
const REPRODUCTIONS = 3

const RUNS = { port: 100, http: 12 } as const

/** FNV-1a over UTF-16 units: the same seed for the same check, whichever others run. */
const seedOf = (seed: number, id: string): number => {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  return hash | 0
}

interface Found {
  readonly given: unknown
  readonly evaluation: Evaluation
  readonly runs: number
  readonly shrinks: number
}

/** What the evaluations so far came to. */
interface Tally {
  executed: number
  decided: number
  readonly undecided: Array<string>
  inapplicable: string | undefined
  readonly seen: Set<string>
  fault: string | undefined
}

const note = (tally: Tally, { failure, fault, trial }: Evaluation): void => {
  tally.executed++
  tally.fault ??= fault
  for (const circumstance of trial.seen) tally.seen.add(circumstance)
  if (failure?._tag === "Undecided") tally.undecided.push(failure.reason)
  else if (failure?._tag === "Inapplicable") tally.inapplicable = failure.reason
  else tally.decided++
}

const isAgainst = ({ failure, fault }: Evaluation): boolean =>
  failure?._tag === "Violation" || fault !== undefined

/** Fails a property of fast-check, which knows failures by what is thrown. */
class Falsified extends Error {}

/** Tries a check out; never fails. */
export const investigate = Effect.fnUntraced(function* (check: Check, subject: Subject, options: Options) {
  const begun = yield* Clock.currentTimeMillis
  const requestsBefore = subject.exchanges.length
  const own = check.cases === undefined ? 0 : (check.runs ?? RUNS)[subject.kind]
  const planned = Math.min(own, options.runs ?? own)
  const tally: Tally = {
    executed: 0,
    decided: 0,
    undecided: [],
    inapplicable: undefined,
    seen: new Set(),
    fault: undefined
  }
  const attempt = (given: unknown) =>
    Effect.tap(evaluate(check, subject, given, options.nextToken()), (evaluation) =>
      Effect.sync(() => note(tally, evaluation))
    )

  let found: Found | undefined
  for (const given of check.examples) {
    const evaluation = yield* attempt(given)
    if (isAgainst(evaluation)) found = { given, evaluation, runs: 0, shrinks: 0 }
    if (found !== undefined || tally.inapplicable !== undefined) break
  }
  const goesOn = found === undefined && tally.inapplicable === undefined
  if (goesOn && check.cases !== undefined && planned > 0) {
    const searched = yield* Effect.exit(
      search(check.cases, attempt, seedOf(options.seed, check.id), planned, options.timeLimitMs)
    )
    if (Exit.isSuccess(searched)) found = searched.value
    else tally.fault ??= Cause.pretty(searched.cause)
  }
  const executed = { executed: tally.executed, decided: tally.decided }
  const counterexample =
    found === undefined || found.evaluation.failure?._tag !== "Violation"
      ? undefined
      : yield* confirm(check, subject, found, attempt)
  const [status, reason] = judge(check, tally, counterexample, planned)
  const result: CheckResult = {
    id: check.id,
    law: check.law,
    clauses: check.clauses,
    level: check.level,
    profile: check.profile,
    status,
    reason,
    runs: { planned: check.examples.length + planned, ...executed },
    requests: subject.exchanges.length - requestsBefore,
    milliseconds: (yield* Clock.currentTimeMillis) - begun,
    counterexample
  }
  return result
})

/** The random phase. */
const search = Effect.fnUntraced(function* (
  cases: fc.Arbitrary<unknown>,
  attempt: (given: unknown) => Effect.Effect<Evaluation>,
  seed: number,
  numRuns: number,
  timeLimitMs: number
) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  let last: Found | undefined
  let underWay: Promise<unknown> = Promise.resolve()
  const property = fc.asyncProperty(cases, async (given) => {
    const trying = run(attempt(given))
    underWay = trying
    const evaluation = await trying
    if (!isAgainst(evaluation)) return
    last = { given, evaluation, runs: 0, shrinks: 0 }
    throw new Falsified()
  })
  const details = yield* Effect.promise(async () => {
    const checked = await fc.check(property, { seed, numRuns, interruptAfterTimeLimit: timeLimitMs })
    // When time runs out fast-check leaves its last evaluation under way; the next check must not meet it.
    await underWay
    return checked
  })
  // The last evaluation that failed is the smallest one: fast-check only goes on from failures.
  return last === undefined ? undefined : { ...last, runs: details.numRuns, shrinks: details.numShrinks }
})

/** Tries the smallest failing case again. */
const confirm = Effect.fnUntraced(function* (
  check: Check,
  subject: Subject,
  { evaluation, given, runs, shrinks }: Found,
  attempt: (given: unknown) => Effect.Effect<Evaluation>
) {
  let times = 0
  let shown = evaluation
  for (let index = 0; index < REPRODUCTIONS; index++) {
    const again = yield* attempt(given)
    if (again.failure?._tag !== "Violation") continue
    times++
    shown = again
  }
  const { failure, trial } = shown
  const text = Case.encode(given)
  const { actual, clause, expected } =
    failure?._tag === "Violation" ? failure : new Violation({ actual: "", expected: "" })
  const counterexample: Counterexample = {
    expected,
    actual,
    clause: clause === undefined || check.clauses.includes(clause) ? undefined : clause,
    case: text,
    steps: trial.steps.map(({ did, got }) => ({ did, got })),
    reproduced: { times, of: REPRODUCTIONS },
    found: { runs, shrinks },
    script: subject.script?.({ check: check.id, law: check.law, expected, actual, steps: trial.steps }),
    token: ReplayToken.encode({ check: check.id, case: text })
  }
  return counterexample
})

const judge = (
  check: Check,
  { decided, executed, fault, inapplicable, seen, undecided }: Tally,
  counterexample: Counterexample | undefined,
  planned: number
): readonly [Status, string | undefined] => {
  if (counterexample !== undefined) {
    return ["fail", `expected ${counterexample.expected}, got ${counterexample.actual}`]
  }
  if (fault !== undefined) return ["error", fault]
  if (decided === 0 && inapplicable !== undefined) return ["not-applicable", inapplicable]
  if (decided === 0) return ["inconclusive", undecided.at(-1) ?? "no case was tried"]
  const unseen = (check.mustSee ?? []).filter((circumstance) => !seen.has(circumstance))
  if (unseen.length > 0) {
    return ["inconclusive", undecided.at(-1) ?? `it never came about: ${unseen.join(", ")}`]
  }
  if (executed < check.examples.length + planned / 4) {
    return ["inconclusive", `time ran out after ${executed} of ${check.examples.length + planned} cases`]
  }
  return ["pass", undefined]
}
