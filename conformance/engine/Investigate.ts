/** Evaluates one check on its boundary examples and then on random cases, and repeats the smallest failing case. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import type { Check } from "../checks/Check.ts"
import * as Coverage from "../dimensions/Coverage.ts"
import { MAX_SHOWN, Violation } from "../evaluation/Outcome.ts"
import * as Excerpt from "../http/Excerpt.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Boundaries from "./Boundaries.ts"
import * as Case from "./Case.ts"
import { resultOf } from "./CheckResults.ts"
import { type Evaluation, evaluate } from "./Evaluate.ts"
import * as ReplayToken from "./ReplayToken.ts"
import type { Counterexample, Status } from "./Report.ts"

export interface Options {
  /** The seed of the run. Each check derives its own seed, so that its cases do not depend on other checks. */
  readonly seed: number
  /** Multiplier of the number of random cases; 1 by default. At least one case is always tried. */
  readonly effort: number | undefined
  /** Timeout of the random cases in milliseconds, including shrinking. */
  readonly timeLimitMs: number
  /** Returns a new token for each evaluation. */
  readonly nextToken: () => string
  /** Whether to stop at the first failing case, without shrinking and repeating it. False by default. */
  readonly isBrief?: boolean | undefined
}

/** How often a failing case is repeated, to detect intermittent failures. */
const REPRODUCTIONS = 3

/** Maximum number of evaluations with an integer replaced by a boundary value. */
const MAX_REPLACEMENTS = 30

const RUNS = { port: 100, http: 12 } as const

/** Derives the seed of a check from its id (FNV-1a over UTF-16 code units), so that it does not depend on other checks. */
const seedOf = (seed: number, id: string): number => {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  return hash | 0
}

interface FailingCase {
  readonly given: unknown
  readonly evaluation: Evaluation
  readonly runs: number
  readonly shrinks: number
}

/** The results of the evaluations in one phase. */
interface Tally {
  executed: number
  decided: number
  /** The reasons why cases were undecided. */
  readonly undecided: Array<string>
  /** The reasons why cases did not apply to this subject. */
  readonly inapplicable: Array<string>
  /** Whether a case did not apply only because of the subject's time or data. */
  isPostponed: boolean
  readonly seen: Set<string>
  /** The first error of the suite. */
  suiteError: string | undefined
  /** Whether the timeout expired. */
  isInterrupted: boolean
}

const emptyTally = (): Tally => ({
  executed: 0,
  decided: 0,
  undecided: [],
  inapplicable: [],
  isPostponed: false,
  seen: new Set(),
  suiteError: undefined,
  isInterrupted: false
})

const addTo = (tally: Tally, { failure, suiteError, trial }: Evaluation): void => {
  tally.executed++
  tally.suiteError ??= suiteError
  for (const circumstance of trial.seen) tally.seen.add(circumstance)
  if (failure?._tag === "Undecided") tally.undecided.push(failure.reason)
  else if (failure?._tag === "Inapplicable") {
    tally.inapplicable.push(failure.reason)
    tally.isPostponed ||= failure.isPostponed === true
  } else tally.decided++
}

const isFailure = ({ failure, suiteError }: Evaluation): boolean =>
  failure?._tag === "Violation" || suiteError !== undefined

/** Fails a property of fast-check, which requires an exception. */
class Falsified extends Error {}

/** Evaluates a check on all its cases; never fails. */
export const investigate = Effect.fnUntraced(function* (check: Check, subject: Subject, options: Options) {
  const startedAt = yield* Clock.currentTimeMillis
  const requestsBefore = subject.exchanges.length
  const defaultRuns = check.cases === undefined ? 0 : (check.runs ?? RUNS)[subject.kind]
  const planned = defaultRuns === 0 ? 0 : Math.max(1, Math.round(defaultRuns * (options.effort ?? 1)))
  const examples = emptyTally()
  const random = emptyTally()
  const tried: Array<Coverage.Tried> = []
  const attempt = (tally: Tally) => (given: unknown) =>
    Effect.tap(evaluate(check, subject, given, options.nextToken()), (evaluation) =>
      Effect.sync(() => {
        addTo(tally, evaluation)
        tried.push(...evaluation.trial.tuples)
      })
    )

  let found: FailingCase | undefined
  for (const given of check.examples) {
    const evaluation = yield* attempt(examples)(given)
    if (!isFailure(evaluation)) continue
    found = { given, evaluation, runs: 0, shrinks: 0 }
    break
  }
  const isInapplicable = examples.executed > 0 && examples.inapplicable.length === examples.executed
  if (found === undefined && !isInapplicable && check.cases !== undefined) {
    const seed = seedOf(options.seed, check.id)
    const searched = yield* Effect.exit(search(check.cases, attempt(random), seed, planned, options))
    if (Exit.isSuccess(searched)) {
      found = options.isBrief
        ? searched.value.found
        : yield* simplifyIntegers(searched.value.found, attempt(emptyTally()))
      random.isInterrupted = searched.value.isInterrupted
    } else random.suiteError ??= Cause.pretty(searched.cause)
  }
  const executed = {
    executed: examples.executed + random.executed,
    decided: examples.decided + random.decided
  }
  const counterexample =
    found === undefined || found.evaluation.failure?._tag !== "Violation"
      ? undefined
      : yield* createCounterexample(
          check,
          subject,
          found,
          attempt(emptyTally()),
          options.isBrief ? 0 : REPRODUCTIONS
        )
  const [status, reason] = judge(check, examples, random, counterexample, isInapplicable ? 0 : planned)
  return resultOf(check, {
    status,
    reason,
    isPostponed: status === "not-applicable" && (examples.isPostponed || random.isPostponed),
    runs: { planned: check.examples.length + planned, ...executed },
    requests: subject.exchanges.length - requestsBefore,
    milliseconds: (yield* Clock.currentTimeMillis) - startedAt,
    counterexample,
    coverage: check.product && Coverage.of(check.product, tried)
  })
})

/** Tries random cases until a case fails or the time limit expires, and shrinks the failing case unless `isBrief`. */
const search = Effect.fnUntraced(function* (
  cases: fc.Arbitrary<unknown>,
  attempt: (given: unknown) => Effect.Effect<Evaluation>,
  seed: number,
  numRuns: number,
  { isBrief = false, timeLimitMs }: Pick<Options, "isBrief" | "timeLimitMs">
) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  let lastFailure: FailingCase | undefined
  let lastViolation: FailingCase | undefined
  let latestAttempt: Promise<unknown> = Promise.resolve()
  const property = fc.asyncProperty(cases, async (given) => {
    const trying = run(attempt(given))
    latestAttempt = trying
    const evaluation = await trying
    if (!isFailure(evaluation)) return
    const isViolation = evaluation.failure?._tag === "Violation"
    // After a violation, a smaller case in which only the suite fails does not count.
    if (lastViolation !== undefined && !isViolation) return
    lastFailure = { given, evaluation, runs: 0, shrinks: 0 }
    if (isViolation) lastViolation = lastFailure
    throw new Falsified()
  })
  const details = yield* Effect.promise(async () => {
    const checked = await fc.check(property, {
      seed,
      numRuns,
      interruptAfterTimeLimit: timeLimitMs,
      endOnFailure: isBrief
    })
    // After the timeout, fast-check leaves its last evaluation running; it must not affect the next check.
    await latestAttempt
    return checked
  })
  // The last failing evaluation is the smallest, because fast-check only shrinks failures.
  const smallest = lastViolation ?? lastFailure
  return {
    found: smallest && { ...smallest, runs: details.numRuns, shrinks: details.numShrinks },
    isInterrupted: details.interrupted
  }
})

/** Replaces integers of the smallest failing case by boundary values, as long as the case still violates the law. */
const simplifyIntegers = Effect.fnUntraced(function* (
  found: FailingCase | undefined,
  attempt: (given: unknown) => Effect.Effect<Evaluation>
) {
  if (found?.evaluation.failure?._tag !== "Violation") return found
  let best = found
  for (let tries = 0; tries < MAX_REPLACEMENTS; ) {
    let better: FailingCase | undefined
    for (const given of Boundaries.simplerCases(best.given)) {
      if (better !== undefined || tries++ >= MAX_REPLACEMENTS) break
      const evaluation = yield* attempt(given)
      if (evaluation.failure?._tag === "Violation") {
        better = { ...best, given, evaluation, shrinks: best.shrinks + 1 }
      }
    }
    if (better === undefined) break
    best = better
  }
  return best
})

/** Repeats the smallest failing case, and creates the counterexample from the last evaluation that failed. */
const createCounterexample = Effect.fnUntraced(function* (
  check: Check,
  subject: Subject,
  { evaluation, given, runs, shrinks }: FailingCase,
  attempt: (given: unknown) => Effect.Effect<Evaluation>,
  repetitions: number
) {
  let times = 0
  let reported = evaluation
  for (let index = 0; index < repetitions; index++) {
    const again = yield* attempt(given)
    if (again.failure?._tag !== "Violation") continue
    times++
    reported = again
  }
  const { failure, trial } = reported
  const text = Case.encode(given)
  const violation = failure?._tag === "Violation" ? failure : new Violation({ actual: "", expected: "" })
  const { clause } = violation
  const expected = Excerpt.words(violation.expected, MAX_SHOWN)
  const actual = Excerpt.words(violation.actual, MAX_SHOWN)
  const counterexample: Counterexample = {
    expected,
    actual,
    clause: clause === undefined || check.clauses.includes(clause) ? undefined : clause,
    case: text,
    steps: trial.steps.map(({ did, got }) => ({ did, got })),
    reproduced: { times, of: repetitions },
    found: { runs, shrinks },
    script: subject.script?.({
      check: check.id,
      law: check.law,
      expected,
      actual,
      steps: trial.steps,
      token: trial.token
    }),
    token: ReplayToken.encode({ check: check.id, case: text })
  }
  return counterexample
})

const judge = (
  check: Check,
  examples: Tally,
  random: Tally,
  counterexample: Counterexample | undefined,
  planned: number
): readonly [Status, string | undefined] => {
  if (counterexample !== undefined) {
    return ["fail", `expected ${counterexample.expected}, got ${counterexample.actual}`]
  }
  const suiteError = examples.suiteError ?? random.suiteError
  if (suiteError !== undefined) return ["error", suiteError]
  const decided = examples.decided + random.decided
  const undecided = [...examples.undecided, ...random.undecided]
  const [inapplicable] = [...examples.inapplicable, ...random.inapplicable]
  if (decided === 0 && undecided.length === 0 && inapplicable !== undefined)
    return ["not-applicable", inapplicable]
  // Each boundary example is part of the law, so an undecided one makes the check inconclusive.
  if (examples.undecided[0] !== undefined) return ["inconclusive", examples.undecided[0]]
  if (decided === 0) return ["inconclusive", undecided[0] ?? "no case was tried"]
  const unseen = (check.mustSee ?? []).filter(
    (circumstance) => !examples.seen.has(circumstance) && !random.seen.has(circumstance)
  )
  if (unseen.length > 0)
    return ["inconclusive", undecided.at(-1) ?? `this never occurred: ${unseen.join(", ")}`]
  const conclusive = random.decided + random.inapplicable.length
  if (conclusive < planned / 2) {
    const cause = random.isInterrupted ? "time ran out" : (random.undecided[0] ?? "they were not tried")
    return ["inconclusive", `only ${conclusive} of ${planned} random cases could be decided: ${cause}`]
  }
  return ["pass", undefined]
}
