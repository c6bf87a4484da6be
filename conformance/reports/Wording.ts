/** Texts that all renderings of a report share. */
import type {
  CheckResult,
  ClauseResult,
  Counterexample,
  Report,
  ReportedStep,
  Status
} from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"

/** The command that replays a failing case, if possible. */
export const replayCommand = ({ token }: Counterexample): string | undefined =>
  token === undefined ? undefined : `animal-store conformance replay ${printable(token)}`

/**
 * The verdict in one line, such as `NOT CONFORMANT at level spec: 2 of 79 checks failed · 412 requests, 38 s
 * (waited 9 s for limits) · seed 184210`.
 */
export const headline = (report: Report): string => `${verdict(report)} · ${cost(report)}`

/**
 * The cost and the seed of a run, such as `412 requests, 38 s (waited 9 s for limits) · seed
 * 184210`.
 */
export const cost = ({ milliseconds, requests, seed, waitedMs }: Report): string => {
  const sent = requests > 0 ? `${plural(requests, "request")}, ` : ""
  const waited = waitedMs > 0 ? ` (waited ${duration(waitedMs)} for limits)` : ""
  return `${sent}${duration(milliseconds)}${waited} · seed ${seed}`
}

/** The verdict and its reason, such as `CONFORMANT at level spec: all 79 checks passed`. */
export const verdict = ({ counts, level, verdict }: Report): string => {
  const { error, excluded, executed, fail, inconclusive, planned, warn } = counts
  const warned = warn > 0 ? `, ${plural(warn, "warning")}` : ""
  const all = plural(planned, "check")
  switch (verdict) {
    case "conformant":
      return `CONFORMANT at level ${level}: all ${plural(executed, "check")} passed${warned}`
    case "not-conformant":
      return `NOT CONFORMANT at level ${level}: ${fail} of ${plural(executed, "check")} failed${warned}`
    case "inconclusive":
      return `INCONCLUSIVE at level ${level}: ${inconclusive} of ${all} could not be decided${warned}`
    case "selection-passed":
      return `SELECTION PASSED at level ${level}: ${executed} of ${all} executed, ${excluded} excluded${warned}`
    case "error":
      return executed === 0
        ? "ERROR: no check was executed"
        : `ERROR: the suite itself failed in ${error} of ${plural(executed, "check")}`
  }
}

/** The counts, such as `planned 84, executed 79, passed 75, failed 2`; zero counts are omitted. */
export const counts = ({ counts }: Report): string =>
  [
    `planned ${counts.planned}`,
    `executed ${counts.executed}`,
    ...countedStatuses
      .filter(([status]) => counts[status] > 0)
      .map(([status, word]) => `${word} ${counts[status]}`)
  ].join(", ")

/** Each status with its word for counts, the worst first. */
export const countedStatuses = [
  ["error", "suite errors"],
  ["fail", "failed"],
  ["inconclusive", "inconclusive"],
  ["warn", "warnings"],
  ["pass", "passed"],
  ["not-applicable", "not applicable"],
  ["excluded", "excluded"]
] as const satisfies ReadonlyArray<readonly [Status, string]>

/** Why a check has its status, in one sentence. */
export const summary = ({ counterexample, reason }: CheckResult): string =>
  reason ??
  (counterexample === undefined
    ? "no reason was given"
    : `expected ${counterexample.expected}, got ${counterexample.actual}`)

/** How a counterexample was found, and whether it is intermittent. */
export const history = ({ found, reproduced }: Counterexample, seed: number): string => {
  if (reproduced.of === 0) return "seen in an exchange of the run"
  const origin =
    found.runs === 0
      ? "found by a boundary example"
      : `found after ${plural(found.runs, "run")} and ${plural(found.shrinks, "shrink")}, seed ${seed}`
  const { of, times } = reproduced
  return `${origin}; reproduces ${times}/${of}${of > 0 && times < of ? " (intermittent)" : ""}`
}

/** The clauses of a check, each with its section if known. */
export const clausesOf = (check: CheckResult, section: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  check.clauses.map((slug) => {
    const known = section.get(slug)
    return known === undefined ? slug : `${slug} ${known}`
  })

/** The clause whose violation prevented the check. */
export const blame = (clause: string, section: ReadonlyMap<string, string>): string =>
  `A step that it needs failed: ${clause}${section.has(clause) ? ` ${section.get(clause)}` : ""}.`

/**
 * Groups failures by cause: each with the checks that failed only because it violates a clause that is not their own.
 */
export const byCause = (
  failed: ReadonlyArray<CheckResult>
): ReadonlyArray<readonly [check: CheckResult, stopped: ReadonlyArray<CheckResult>]> => {
  const blamed = ({ counterexample }: CheckResult) => counterexample?.clause
  const headOf = (check: CheckResult): CheckResult => {
    const clause = blamed(check)
    if (clause === undefined) return check
    const own = failed.find((other) => blamed(other) === undefined && other.clauses.includes(clause))
    return own ?? failed.find((other) => blamed(other) === clause) ?? check
  }
  const heads = failed.filter((check) => headOf(check) === check)
  return heads.map((head) => [head, failed.filter((check) => check !== head && headOf(check) === head)])
}

/** Slug to section of the contract. */
export const sectionsOf = (clauses: ReadonlyArray<ClauseResult>): ReadonlyMap<string, string> =>
  new Map(clauses.map((clause) => [clause.slug, clause.section]))

/** The checks grouped by their reason, in the order of the first of each group. */
export const byReason = (
  checks: ReadonlyArray<CheckResult>
): ReadonlyArray<readonly [reason: string, checks: ReadonlyArray<CheckResult>]> => {
  const groups = new Map<string, Array<CheckResult>>()
  for (const check of checks) {
    const reason = summary(check)
    const group = groups.get(reason)
    if (group === undefined) groups.set(reason, [check])
    else group.push(check)
  }
  return [...groups]
}

/** A duration as text: `850 ms`, `3.2 s`, `38 s`, `2 min 5 s`. */
export const duration = (milliseconds: number): string => {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 9_950) return `${(milliseconds / 1_000).toFixed(1).replace(".0", "")} s`
  const seconds = Math.round(milliseconds / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** A step in one line. */
export const step = ({ did, got }: ReportedStep): string => printable(got === "" ? did : `${did} → ${got}`)
