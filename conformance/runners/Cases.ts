/** Turns checks into test cases for any test runner. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { CheckResult, Report } from "../engine/Report.ts"
import * as Run from "../engine/Run.ts"
import * as Selection from "../engine/Selection.ts"
import * as Wording from "../reports/Wording.ts"
import type { Subject } from "../subjects/Subject.ts"

/** One test case. */
export interface TestCase {
  /** The id of the check and its law; for the run, a sentence. */
  readonly name: string
  /** The reason why the runner should skip the case; `undefined` if it should not. */
  readonly skip: string | undefined
  /** Rejects with a `ConformanceError` if the subject does not pass, or a `SetupError` if the set-up is invalid. */
  readonly run: () => Promise<void>
}

export interface CasesOptions
  extends Pick<Run.RunOptions, "level" | "seed" | "only" | "exclude" | "effort" | "timeLimitMs"> {
  /** Whether inconclusive checks pass; false by default. */
  readonly allowInconclusive?: boolean | undefined
}

/** A check did not pass: it failed, was inconclusive, or ended with an error of the suite. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError"
  readonly result: CheckResult

  constructor(result: CheckResult) {
    super([`${result.id} ${result.status}`, ...Wording.failure(result)].join("\n"))
    this.result = result
  }
}

/**
 * Returns a case for the run, and one for every check for this kind of subject, in run order. The first case that a
 * runner executes runs the whole suite, and all others take their results from it. Checks that were not selected have a
 * reason in `skip`.
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
  const { allowInconclusive = false } = options
  const { checks, selected } = Result.getOrThrowWith(Selection.of(subject, options), (error) => error)
  let report: Promise<Report> | undefined
  const runOnce = (): Promise<Report> => (report ??= Effect.runPromise(Run.run(subject, options)))
  const caseOf = ({ says, slug }: Selection.Check): TestCase => ({
    name: `${slug}: ${says}`,
    skip: selected.has(slug) ? undefined : "not selected for this run",
    run: async () => {
      const result = (await runOnce()).checks.find(({ id }) => id === slug)
      const failures = ["fail", "error", ...(allowInconclusive ? [] : ["inconclusive"])]
      if (result !== undefined && failures.includes(result.status)) throw new ConformanceError(result)
    }
  })
  const whole: TestCase = { name: "the suite runs", skip: undefined, run: async () => void (await runOnce()) }
  return [whole, ...checks.map(caseOf)]
}
