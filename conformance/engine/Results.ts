/** Decides the result of each check from what a run found out, and groups failed checks by their probable causes. */

import type { Finding, Findings } from "../clauses/Finding.ts"
import type { Program } from "../programs/Program.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import { type Capability, capabilities } from "../subjects/Subject.ts"
import * as ReplayToken from "./ReplayToken.ts"
import type { Cause, CheckResult } from "./Report.ts"
import * as Selection from "./Selection.ts"

/** What a run found out, and what it could not do. */
export interface Observed extends Findings {
  /** The programs that were planned. */
  readonly programs?: ReadonlyArray<Program>
  /** The reasons for which programs stopped early, and errors of the suite, by the name of the program. */
  readonly stopped?: ReadonlyMap<string, string>
  readonly errors?: ReadonlyMap<string, string>
  /** Why clauses do not apply, such as an optional method that a store lacks. */
  readonly lacking?: ReadonlyMap<string, string>
  /** Why clauses could not be decided. */
  readonly undecided?: ReadonlyMap<string, string>
  /** What the doctor found. */
  readonly examined?: ReadonlyArray<string>
  readonly choices?: ReadonlyArray<string>
  readonly requests?: number
  readonly waitedMs?: number
}

/** Keys without which a check does not apply, because the contract does not describe them. */
const optionalKeys: { readonly [need in Capability]?: string } = {
  revokedKey: "no revoked key is declared, and the contract defines no way to revoke one",
  expiredKey: "no expired key is declared, and the contract does not mention expiry",
  anyCategory: "the subject declares that it accepts only certain categories"
}

/** Returns the most important reason why a check was not decided. */
const undecided = (
  { optional, profile, slug }: Selection.Check,
  { errors, lacking, programs = [], stopped, undecided }: Observed,
  has: ReadonlySet<Capability>,
  declared: HttpTarget["declared"]
): Pick<CheckResult, "status" | "reason"> => {
  const own = programs.filter((program) => program.profile === profile)
  const firstOf = (reasons: ReadonlyMap<string, string> | undefined) =>
    own.map(({ name }) => reasons?.get(name)).find((reason) => reason !== undefined)
  const missing = [...new Set(own.flatMap(({ needs = [] }) => needs))].filter((need) => !has.has(need))
  const required = missing.filter((need) => optionalKeys[need] === undefined)
  const neverBans = profile === "ban" && declared?.bans === false
  const all = [
    ["not-applicable", neverBans ? "the subject declares that it never bans" : undefined],
    ["error", firstOf(errors)],
    ["inconclusive", firstOf(stopped)],
    [
      "inconclusive",
      required.length === 0
        ? undefined
        : `it needs ${required.map((need) => capabilities[need]).join(" and ")}`
    ],
    ...missing.map((need) => ["not-applicable", optionalKeys[need]] as const),
    ["not-applicable", lacking?.get(slug)],
    ["inconclusive", undecided?.get(slug)],
    ["not-applicable", optional]
  ] as const
  const [status, reason] = all.find(([, found]) => found !== undefined) ?? []
  return { status: status ?? "inconclusive", reason: reason ?? "no exchange of this run decides it" }
}

/** Returns the results of all checks for a kind of subject, in run order. */
export const of = (
  checks: ReadonlyArray<Selection.Check>,
  observed: Observed,
  selection: Selection.Selection,
  has: ReadonlySet<Capability>,
  declared?: HttpTarget["declared"]
): ReadonlyArray<CheckResult> =>
  checks.map((check): CheckResult => {
    const { level, profile, says, section, slug } = check
    const about = { id: slug, law: says, section, level, profile }
    if (!Selection.isSelected(check, selection)) {
      return { ...about, status: "excluded", reason: "not selected for this run", decided: 0 }
    }
    const decided = observed.decided.get(slug) ?? 0
    const finding = observed.findings.find(({ clause }) => clause === slug)
    if (finding !== undefined) {
      const { actual, expected, steps, tally, times = 1 } = finding
      return {
        ...about,
        status: "fail",
        reason: `expected ${expected}, got ${actual}`,
        decided: Math.max(decided, times),
        counterexample: { expected, actual, steps, tally, times, token: tokenOf(finding) }
      }
    }
    return {
      ...about,
      ...(decided > 0 ? { status: "pass" } : undecided(check, observed, has, declared)),
      decided
    }
  })

/** Maximum length of a token, so that it can be copied. */
const MAX_TOKEN = 12_000

const tokenOf = (finding: Finding): string | undefined => {
  const token = finding.case && ReplayToken.encode({ check: finding.clause, case: finding.case })
  return token === undefined || token === "" || token.length > MAX_TOKEN ? undefined : token
}

/**
 * Groups findings by their probable causes, the most probable one first: a finding follows from an earlier one if all
 * responses that violate it are of kinds that violate the earlier one, too.
 */
export const causes = (findings: ReadonlyArray<Finding>): ReadonlyArray<Cause> => {
  const groups: Array<{ readonly first: Finding; readonly others: Array<Finding> }> = []
  for (const finding of findings.toSorted((a, b) => burden(a, timesOf(a)) - burden(b, timesOf(b)))) {
    const { shapes = [] } = finding
    const cause = groups.find(
      ({ first }) => shapes.length > 0 && shapes.every((shape) => first.shapes?.includes(shape) === true)
    )
    if (cause === undefined) groups.push({ first: finding, others: [] })
    else cause.others.push(finding)
  }
  return groups
    .map(({ first, others }) => ({
      first,
      others,
      times: [first, ...others].reduce((sum, each) => sum + timesOf(each), 0)
    }))
    .toSorted((a, b) => burden(a.first, a.times) - burden(b.first, b.times))
    .map(({ first, others, times }) => ({
      check: first.clause,
      follows: others.map(({ clause }) => clause),
      more: times - 1
    }))
}

const timesOf = ({ times = 1 }: Finding): number => times

/**
 * Returns how much speaks against a finding as the cause of so many violations: the steps of its history. One step less
 * counts as much as twice as many violations. A rejection counts as one more step, because it often follows from a request
 * that should have been rejected.
 */
const burden = ({ steps }: Finding, times: number): number =>
  steps.length + (/^[345]/.test(steps.at(-1)?.got ?? "") ? 1 : 0) - Math.log2(times)
