/** Turns checks into test cases for any test runner. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import { examineExchanges } from "../engine/Ambient.ts"
import { resultOf } from "../engine/CheckResults.ts"
import * as Doctor from "../engine/Doctor.ts"
import { investigate } from "../engine/Investigate.ts"
import * as Platform from "../engine/Platform.ts"
import type { CheckResult, Counterexample } from "../engine/Report.ts"
import * as ReportRedaction from "../engine/ReportRedaction.ts"
import * as Run from "../engine/Run.ts"
import * as Selection from "../engine/Selection.ts"
import { SetupError } from "../engine/SetupError.ts"
import * as Wording from "../reports/Wording.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"

/** One test case. */
export interface TestCase {
  /** The id of the check and its law; for the set-up, a sentence. */
  readonly name: string
  /** The reason why the runner should skip the case; `undefined` if it should not. */
  readonly skip: string | undefined
  /** Rejects with a `ConformanceError` if the subject does not pass, or a `SetupError` if the set-up is invalid. */
  readonly run: () => Promise<void>
}

export interface CasesOptions
  extends Pick<Run.RunOptions, "seed" | "only" | "exclude" | "effort" | "timeLimitMs"> {
  /**
   * `spec` includes the laws that every implementation of the contract must obey; it is the default for servers.
   * `design` also includes the decisions of this project; it is the default for ports, because all laws about ports
   * have this level.
   */
  readonly level?: Run.RunOptions["level"] | undefined
  /**
   * Whether to accept inconclusive checks; false by default. If true, checks that lack a clock or a key are skipped,
   * and other inconclusive checks pass.
   */
  readonly allowInconclusive?: boolean | undefined
}

/** A check did not pass: it failed, was inconclusive, or ended with an error of the suite. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError"
  readonly result: CheckResult

  constructor(result: CheckResult) {
    super(messageOf(result))
    this.result = result
  }
}

const messageOf = ({ counterexample, id, law, reason, status }: CheckResult): string => {
  const head = `${id} ${status}: ${law}`
  if (counterexample === undefined) return `${head}\n${reason ?? ""}`
  const { actual, expected, steps, token } = counterexample
  return [
    head,
    `expected ${expected}`,
    `got      ${actual}`,
    ...steps.map((step, index) => `  ${index + 1}. ${Wording.step(step)}`),
    historyOf(counterexample),
    ...(token === undefined ? [] : [`replay: ${token}`])
  ].join("\n")
}

/** Describes how a counterexample was found, and how often it was reproduced. */
const historyOf = ({ found: { runs, shrinks }, reproduced: { of, times } }: Counterexample): string => {
  if (of === 0) return "found in an exchange of the run"
  const origin = runs === 0 ? "in an example" : `after ${runs} random cases, shrunk ${shrinks} times`
  return `found ${origin}, reproduced ${times} of ${of} times`
}

/**
 * Returns a case for every check for this kind of subject, in run order. Run them in sequence, because over HTTP they
 * share the subject and its time. Checks that do not apply or were not selected have a reason in `skip`; checks that
 * lack a clock or a key reject, unless `allowInconclusive` is set. Over HTTP, the first case checks the set-up, and the
 * last cases check every exchange.
 *
 * Throws `UnknownSelection` for a pattern that matches nothing, and `SetupError` if no check is left or Node is too
 * old.
 *
 * @example
 * ```ts
 * for (const { name, run, skip } of cases(subject)) test(name, { skip: skip ?? false }, run) // node:test
 * ```
 */
export const cases = (subject: Subject, options: CasesOptions = {}): ReadonlyArray<TestCase> => {
  const {
    allowInconclusive = false,
    effort,
    exclude = [],
    level = Run.defaultLevel(subject),
    only = [],
    timeLimitMs = Run.defaultTimeLimitMs
  } = options
  const platformProblem = Platform.problem()
  if (platformProblem !== undefined) throw new SetupError({ reason: platformProblem })
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const selection: Selection.Selection = { level, only, exclude }
  Result.getOrThrowWith(Run.validate(selection), (unknown) => unknown)
  const nextToken = Effect.runSync(Run.tokens)
  const requirePass = (result: CheckResult): void => {
    const redacted = subject.redact === undefined ? result : ReportRedaction.ofCheck(result, subject.redact)
    const { status } = Run.atLevel(redacted, level)
    const isFailure =
      status === "fail" || status === "error" || (status === "inconclusive" && !allowInconclusive)
    if (isFailure) throw new ConformanceError(redacted)
  }

  const caseOf = (check: Check): TestCase => {
    const plan = Selection.planOf(check, subject, selection)
    const isSkipped = !plan.run && (plan.status !== "inconclusive" || allowInconclusive)
    return {
      name: `${check.id}: ${check.law}`,
      skip: isSkipped ? plan.reason : undefined,
      run: async () => {
        if (isSkipped) return
        requirePass(
          plan.run
            ? await Effect.runPromise(investigate(check, subject, { seed, effort, timeLimitMs, nextToken }))
            : resultOf(check, plan)
        )
      }
    }
  }
  const exchangeCase = (check: AmbientCheck): TestCase => ({
    name: `${check.id}: ${check.law}`,
    skip: Selection.isSelected(Run.selectable(check), selection) ? undefined : Selection.unselected.reason,
    run: async () => requirePass(examineExchanges(check, subject))
  })
  const setUp: ReadonlyArray<TestCase> = HttpSubject.is(subject)
    ? [
        {
          name: "the set-up is correct",
          skip: undefined,
          run: async () => void (await Effect.runPromise(Doctor.examine(subject, selection)))
        }
      ]
    : []
  const all = [
    ...Run.checksFor(subject, level).map(caseOf),
    ...Run.ambientFor(subject, level).map(exchangeCase)
  ]
  if (all.every(({ skip }) => skip !== undefined)) {
    throw new SetupError({ reason: `no check is left to run on ${subject.name}` })
  }
  return [...setUp, ...all]
}
