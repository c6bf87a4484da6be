/** Decides the result of each check from what a run found out, and groups failed checks by their probable causes. */
import type * as Arr from "effect/Array"
import type { Finding, Findings } from "../clauses/Finding.ts"
import type { Cause, CheckResult, Report } from "./Report.ts"
import type { Check, Selection } from "./Selection.ts"

/** What a run found out, and what it could not do. */
export interface Observed extends Findings {
  /** Returns why a check was not decided; `undefined` if nothing tried it. */
  readonly reasonFor: (check: Check) => Undecided | undefined
  /** What the report shows beside the checks. */
  readonly told: Pick<Report, "requests" | "waitedMs" | "findings" | "stopped" | "choices">
}

/** Why a check was not decided. */
export type Undecided = Pick<CheckResult, "status" | "reason">

export const inconclusive = (reason: string): Undecided => ({ status: "inconclusive", reason })

/** The reason of a check that nothing tried. */
export const UNTRIED = "no exchange of this run decides it"

export const notApplicable = (reason: string): Undecided => ({ status: "not-applicable", reason })

/** Returns the results of all checks, in run order. */
export const of = (
  { checks, selected }: Selection,
  { decided, findings, reasonFor }: Pick<Observed, "decided" | "findings" | "reasonFor">
): ReadonlyArray<CheckResult> =>
  checks.map((check): CheckResult => {
    const { level, optional, profile, says, section, slug } = check
    const about = { id: slug, law: says, section, level, profile, decided: decided.get(slug) ?? 0 }
    if (!selected.has(slug)) {
      return { ...about, status: "excluded", reason: "not selected for this run", decided: 0 }
    }
    const finding = findings.find(({ clause }) => clause === slug)
    if (finding !== undefined) {
      const { actual, expected, steps, tally, times = 1, token } = finding
      return {
        ...about,
        status: "fail",
        reason: `expected ${expected}, got ${actual}`,
        decided: Math.max(about.decided, times),
        counterexample: { expected, actual, steps, tally, times, token }
      }
    }
    if (about.decided > 0) return { ...about, status: "pass" }
    return {
      ...about,
      ...(reasonFor(check) ?? (optional === undefined ? inconclusive(UNTRIED) : notApplicable(optional)))
    }
  })

/**
 * Groups findings by their probable causes, the most probable one first: a finding follows from an earlier one if all
 * responses that violate it are of kinds that violate the earlier one, too.
 */
export const causes = (findings: ReadonlyArray<Finding>): ReadonlyArray<Cause> => {
  const groups: Array<Arr.NonEmptyArray<Finding>> = []
  for (const finding of byBurden(findings.map((each) => [each] as const)).flat()) {
    const { shapes = [] } = finding
    const cause = groups.find(
      ([first]) => shapes.length > 0 && shapes.every((shape) => first.shapes?.includes(shape) === true)
    )
    if (cause === undefined) groups.push([finding])
    else cause.push(finding)
  }
  return byBurden(groups).map((group) => ({
    check: group[0].clause,
    follows: group.slice(1).map(({ clause }) => clause),
    more: timesOf(group) - 1
  }))
}

type Group = Arr.NonEmptyReadonlyArray<Finding>

/** Clauses that, once broken, may explain why others are: these come after them. */
const explaining: ReadonlyArray<readonly [cause: RegExp, others: RegExp]> = [
  [/^auth\.required$/, /^auth\.(?!required|bearer|error-body)/],
  [/^resources\.id-unique$/, /^(?!resources\.id-unique|create\.returns)(?:auth|create|get|list|resources)\./],
  [/^create\.\w+-(?:type|required|range|enum)$/, /^resources\.pet-/],
  [/^list\.limit\.maximum-returned$/, /^list\.limit\.(?:ceiling|default)$/],
  [/^list\.status\.before-limit$/, /^list\.limit\.default-fills$/],
  // What requests show one after the other explains what they show at the same time.
  [/^list\.sees-created$/, /^create\.concurrent$/],
  [/^limits\.per-(?:minute|day)$/, /^limits\.atomic$/],
  [/^limits\.per-day$/, /^limits\.retry-after-promise$/],
  [/^limits\.(?:per-minute|per-day|exceeded-429)$/, /^limits\.reset-truth$/]
]

/** Sorts groups by what speaks against them; one that others explain comes after these. */
const byBurden = (groups: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  const all = groups.flat()
  const total = (group: Group): number => {
    const [{ clause }] = group
    const causes = groups.filter(([each]) =>
      explaining.some(([cause, others]) => cause.test(each.clause) && others.test(clause))
    )
    // A little more than what explains it.
    return Math.max(burden(group, all), ...causes.map((each) => burden(each, all) + 0.001))
  }
  return groups.toSorted((a, b) => total(a) - total(b))
}

const timesOf = (group: ReadonlyArray<Finding>): number =>
  group.reduce((sum, { times = 1 }) => sum + times, 0)

/**
 * Returns how much speaks against the first finding as the cause of all: the steps of its history. One step less counts as
 * much as twice as many violations. Those of a finding with a longer history count, too, if an earlier response in it is of
 * a kind that violates this one. A rejection counts as one more step, because it often follows from a request that should
 * have been rejected.
 */
const burden = (group: Group, all: ReadonlyArray<Finding>): number => {
  const [{ hints = 0, shapes = [], steps }] = group
  const isRejection = /^[345]/.test(steps.at(-1)?.got ?? "")
  const later = all.filter(
    (each) =>
      each.steps.length > steps.length &&
      !group.includes(each) &&
      each.earlier?.some((shape) => shapes.includes(shape))
  )
  return steps.length - hints + (isRejection ? 1 : 0) - Math.log2(timesOf([...group, ...later]))
}
