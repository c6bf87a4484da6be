/** The checks as test cases for any test runner. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import { examineExchanges } from "../engine/Ambient.ts"
import { resultOf } from "../engine/CheckResults.ts"
import * as Doctor from "../engine/Doctor.ts"
import { investigate } from "../engine/Investigate.ts"
import type { CheckResult } from "../engine/Report.ts"
import * as ReportRedaction from "../engine/ReportRedaction.ts"
import * as Run from "../engine/Run.ts"
import * as Selection from "../engine/Selection.ts"
import { SetupFault } from "../engine/SetupFault.ts"
import * as Wording from "../reports/Wording.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"

/** One test. */
export interface TestCase {
  /** The id of the check and its law. */
  readonly name: string
  /** Why the runner should skip it; `undefined` when it should not. */
  readonly skip: string | undefined
  /** Rejects with a `ConformanceError` when the subject does not pass. */
  readonly run: () => Promise<void>
}

export interface CasesOptions
  extends Pick<Run.RunOptions, "seed" | "only" | "exclude" | "effort" | "timeLimitMs"> {
  /**
   * `spec` is what every implementation of the contract must do, the default for servers; `design` what this project's
   * does too, the default for storage ports, whose laws are all of that level.
   */
  readonly level?: Run.RunOptions["level"] | undefined
  /** Whether what cannot be decided, for want of a clock or a key, is skipped instead of failed; false by default. */
  readonly allowInconclusive?: boolean | undefined
}

/** A subject that did not pass a check: broken, or inconclusive, which is never a pass. */
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
  const { actual, expected, found, reproduced, steps, token } = counterexample
  return [
    head,
    `expected ${expected}`,
    `got      ${actual}`,
    ...steps.map((step, index) => `  ${index + 1}. ${Wording.step(step)}`),
    `found after ${found.runs} random cases, made smaller ${found.shrinks} times, failed again ${reproduced.times} of ${reproduced.of} times`,
    ...(token === undefined ? [] : [`replay: ${token}`])
  ].join("\n")
}

/**
 * Every check that a subject of its kind can be held to, in the order in which they must run: one after the other, for
 * over HTTP they share the subject and its time. What does not apply to the subject, and what was not asked for, is to be
 * skipped with a reason; what cannot be decided, for want of a clock or a key, rejects unless `allowInconclusive`.
 *
 * Throws `UnknownSelection` for a pattern that names nothing, and `SetupFault` when no check is left to run.
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
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const selection: Selection.Selection = { level, only, exclude }
  Result.getOrThrowWith(Run.validate(selection), (unknown) => unknown)
  const nextToken = Effect.runSync(Run.tokens)
  const demand = (result: CheckResult): void => {
    const told = subject.redact === undefined ? result : ReportRedaction.ofCheck(result, subject.redact)
    const { status } = Run.atLevel(told, level)
    const isRefused =
      status === "fail" || status === "error" || (status === "inconclusive" && !allowInconclusive)
    if (isRefused) throw new ConformanceError(told)
  }

  const caseOf = (check: Check): TestCase => {
    const plan = Selection.planOf(check, subject, selection)
    const isSkipped = !plan.run && (plan.status !== "inconclusive" || allowInconclusive)
    return {
      name: `${check.id}: ${check.law}`,
      skip: isSkipped ? plan.reason : undefined,
      run: async () => {
        if (isSkipped) return
        demand(
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
    run: async () => demand(examineExchanges(check, subject))
  })
  const setUp: ReadonlyArray<TestCase> = HttpSubject.is(subject)
    ? [
        {
          name: "the set-up is sound",
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
    throw new SetupFault({ reason: `nothing is left to hold ${subject.name} to` })
  }
  return [...setUp, ...all]
}
