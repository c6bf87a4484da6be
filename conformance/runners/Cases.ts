/** The checks as test cases for any test runner. */
import * as Effect from "effect/Effect"
import type { AmbientCheck } from "../checks/Ambient.ts"
import type { Check } from "../checks/Check.ts"
import { overhear } from "../engine/Ambient.ts"
import * as Doctor from "../engine/Doctor.ts"
import { investigate } from "../engine/Investigate.ts"
import * as Run from "../engine/Run.ts"
import * as Selection from "../engine/Selection.ts"
import * as Redaction from "../reports/Redaction.ts"
import type { CheckResult } from "../reports/Report.ts"
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
  extends Pick<Run.RunOptions, "seed" | "only" | "exclude" | "runs" | "timeLimitMs"> {
  /** `spec`, the default, is what every implementation of the contract must do; `design` what this project's does. */
  readonly level?: Run.RunOptions["level"] | undefined
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
    ...steps.map(({ did, got }, index) => `  ${index + 1}. ${did}${got === "" ? "" : ` → ${got}`}`),
    `found after ${found.runs} random cases, made smaller ${found.shrinks} times, failed again ${reproduced.times} of ${reproduced.of} times`,
    ...(token === undefined ? [] : [`replay: ${token}`])
  ].join("\n")
}

const demand = (told: CheckResult, { redact }: Subject): void => {
  const result = redact === undefined ? told : Redaction.ofCheck(told, redact)
  if (result.status !== "pass" && result.status !== "not-applicable" && result.status !== "warn") {
    throw new ConformanceError(result)
  }
}

const TIME_LIMIT_MS = 20_000

/**
 * Every check that a subject of its kind can be held to, in the order in which they must run: one after the other, for
 * over HTTP they share the subject and its time. What it declares not to have, and what was not asked for, is to be
 * skipped with a reason.
 *
 * @example
 * ```ts
 * for (const { name, run, skip } of cases(subject)) test(name, { skip: skip ?? false }, run) // node:test
 * ```
 */
export const cases = (subject: Subject, options: CasesOptions = {}): ReadonlyArray<TestCase> => {
  const { exclude = [], level = "spec", only = [], runs, timeLimitMs = TIME_LIMIT_MS } = options
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const selection: Selection.Selection = { level, only, exclude }
  const nextToken = Effect.runSync(Run.tokens)

  const caseOf = (check: Check): TestCase => {
    const plan = Selection.planOf(check, subject, selection)
    return {
      name: `${check.id}: ${check.law}`,
      skip: plan.run ? undefined : plan.reason,
      run: async () => {
        if (!plan.run) return
        const result = await Effect.runPromise(
          investigate(check, subject, { seed, runs, timeLimitMs, nextToken })
        )
        demand(Run.atLevel(result, level), subject)
      }
    }
  }
  const overheard = (check: AmbientCheck): TestCase => ({
    name: `${check.id}: ${check.law}`,
    skip: Selection.isSelected({ ...check, profile: "core" }, selection)
      ? undefined
      : "not selected for this run",
    run: async () => demand(Run.atLevel(overhear(check, subject), level), subject)
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
  return [
    ...setUp,
    ...Run.checksFor(subject, level).map(caseOf),
    ...Run.ambientFor(subject, level).map(overheard)
  ]
}
