/** Creates the texts that all renderings of a report share. */
import * as Coverage from "../dimensions/Coverage.ts"
import type {
  CheckResult,
  ClauseResult,
  Counterexample,
  Report,
  ReportedStep,
  Status
} from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"

/** Returns the command that replays a failing case; `undefined` without a token. */
export const replayCommand = ({ token }: Counterexample): string | undefined =>
  token === undefined ? undefined : `animal-store conformance replay ${printable(token)}`

/**
 * Returns the verdict in one line, such as `NOT CONFORMANT at level spec: 2 of 79 checks failed · 412 requests, 38 s
 * (waited 9 s for limits) · seed 184210`.
 */
export const headline = (report: Report): string => `${verdict(report)} · ${cost(report)}`

/**
 * Returns the cost and the seed of a run, such as `412 requests, 38 s (waited 9 s for limits) · seed
 * 184210`.
 */
export const cost = ({ milliseconds, requests, seed, waitedMs }: Report): string => {
  const sent = requests > 0 ? `${plural(requests, "request")}, ` : ""
  const waited = waitedMs > 0 ? ` (waited ${duration(waitedMs)} for limits)` : ""
  return `${sent}${duration(milliseconds)}${waited} · seed ${seed}`
}

/** Returns the verdict and its reason, such as `CONFORMANT at level spec: all 79 checks passed`. */
export const verdict = ({ counts, level, verdict }: Report): string => {
  const { error, excluded, executed, fail, inconclusive, planned, warn } = counts
  const warnings = warn > 0 ? `, ${plural(warn, "warning")}` : ""
  const plannedChecks = plural(planned, "check")
  switch (verdict) {
    case "conformant":
      return `CONFORMANT at level ${level}: all ${plural(executed, "check")} passed${warnings}`
    case "not-conformant":
      return `NOT CONFORMANT at level ${level}: ${fail} of ${plural(executed, "check")} failed${warnings}`
    case "inconclusive":
      return `INCONCLUSIVE at level ${level}: ${inconclusive} of ${plannedChecks} could not be decided${warnings}`
    case "selection-passed":
      return `SELECTION PASSED at level ${level}: ${executed} of ${plannedChecks} executed, ${excluded} excluded${warnings}`
    case "error":
      return executed === 0
        ? "ERROR: no check was executed"
        : `ERROR: the suite itself failed in ${error} of ${plural(executed, "check")}`
  }
}

/** Returns the counts, such as `planned 84, executed 79, passed 75, failed 2`; statuses without a check are omitted. */
export const counts = ({ counts }: Report): string =>
  [
    `planned ${counts.planned}`,
    `executed ${counts.executed}`,
    ...countedStatuses
      .filter(([status]) => counts[status] > 0)
      .map(([status, word]) => `${word} ${counts[status]}`)
  ].join(", ")

/**
 * Returns the claims that a run allows although it is not conformant as a whole, such as `conformant: core, auth`;
 * `undefined` if there are none.
 */
export const claims = ({ claims = [], verdict }: Report): string | undefined =>
  claims.length === 0 || verdict === "conformant" ? undefined : `conformant: ${claims.join(", ")}`

/** Each status with its name in counts, the worst first. */
export const countedStatuses = [
  ["error", "suite errors"],
  ["fail", "failed"],
  ["inconclusive", "inconclusive"],
  ["warn", "warnings"],
  ["pass", "passed"],
  ["not-applicable", "not applicable"],
  ["excluded", "excluded"]
] as const satisfies ReadonlyArray<readonly [Status, string]>

/** Returns the reason for the status of a check, in one sentence. */
export const summary = ({ counterexample, reason }: CheckResult): string =>
  reason ??
  (counterexample === undefined
    ? "no reason was given"
    : `expected ${counterexample.expected}, got ${counterexample.actual}`)

/** Describes how a counterexample was found, and whether it is intermittent. */
export const history = ({ found, reproduced }: Counterexample, seed: number): string => {
  if (reproduced.of === 0) return "found in an exchange of the run"
  const origin =
    found.runs === 0
      ? "found by a boundary example"
      : `found after ${plural(found.runs, "run")} and ${plural(found.shrinks, "shrink")}, seed ${seed}`
  const { of, times } = reproduced
  return `${origin}; reproduces ${times}/${of}${of > 0 && times < of ? " (intermittent)" : ""}`
}

/** Returns the clauses of a check, each with its section if known. */
export const clausesOf = (check: CheckResult, section: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  check.clauses.map((slug) => {
    const known = section.get(slug)
    return known === undefined ? slug : `${slug} ${known}`
  })

/** Returns a sentence that names the violated clause that prevented the check, with its section if known. */
export const blame = (clause: string, section: ReadonlyMap<string, string>): string =>
  `A step that this check needs failed: ${clause}${section.has(clause) ? ` ${section.get(clause)}` : ""}.`

/**
 * Groups failures by cause. A check that failed because of a clause of another check is listed with the failed check of
 * that clause, or else with the first check that failed because of the same clause.
 */
export const byCause = (
  failed: ReadonlyArray<CheckResult>
): ReadonlyArray<readonly [check: CheckResult, prevented: ReadonlyArray<CheckResult>]> => {
  const clauseBlamedBy = ({ counterexample }: CheckResult) => counterexample?.clause
  const causeOf = (check: CheckResult): CheckResult => {
    const clause = clauseBlamedBy(check)
    if (clause === undefined) return check
    const failedCheckOfClause = failed.find(
      (candidate) => clauseBlamedBy(candidate) === undefined && candidate.clauses.includes(clause)
    )
    return failedCheckOfClause ?? failed.find((candidate) => clauseBlamedBy(candidate) === clause) ?? check
  }
  const causes = failed.filter((check) => causeOf(check) === check)
  return causes.map((cause) => [cause, failed.filter((check) => check !== cause && causeOf(check) === cause)])
}

/** Maps the slugs of clauses to their sections of the contract. */
export const sectionsOf = (clauses: ReadonlyArray<ClauseResult>): ReadonlyMap<string, string> =>
  new Map(clauses.map((clause) => [clause.slug, clause.section]))

/** Groups checks by their reason, in the order of first appearance. */
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

/** Returns each check with a product of dimensions, and the tried part, such as `operation 4/4, pairs 96 of 104`. */
export const triedOver = ({
  checks
}: Pick<Report, "checks">): ReadonlyArray<readonly [check: CheckResult, tried: string]> =>
  checks.flatMap((check) =>
    check.coverage === undefined ? [] : [[check, Coverage.inWords(check.coverage)] as const]
  )

/** Formats a duration: `850 ms`, `3.2 s`, `38 s`, `2 min 5 s`. */
export const duration = (milliseconds: number): string => {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 9_950) return `${(milliseconds / 1_000).toFixed(1).replace(".0", "")} s`
  const seconds = Math.round(milliseconds / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Returns the versions of the laws and of the package, such as `1.0.0 (animal-store 0.1.0)`. */
export const suite = ({ suite: { laws, name, version } }: Report): string =>
  laws === undefined ? `${name} ${version}` : `${laws} (${name} ${version})`

/** Returns the declared implementation, such as `Shop 2.1, https://shop.example`; `undefined` if there is no declaration. */
export const implementation = ({ implementation }: Report): string | undefined =>
  implementation &&
  [
    [implementation.name, implementation.version].filter((part) => part !== undefined).join(" "),
    ...(implementation.contact === undefined ? [] : [implementation.contact])
  ].join(", ")

/** Returns the contract and its version; `undefined` for old reports. */
export const contract = ({ contract }: Report): string | undefined =>
  contract && `${contract.name} ${contract.version}`

/**
 * Returns the results by profile, such as `core 81/81 pass, limits 20/24 inconclusive`; `undefined` for old reports.
 */
export const profiles = ({ profiles }: Report): string | undefined =>
  profiles
    ?.map(({ passed, planned, profile, status }) => `${profile} ${passed}/${planned} ${status}`)
    .join(", ")

/** Returns the limits of the run, such as `5000 requests, 3 min 0 s, …`; `undefined` for old reports. */
export const limits = ({ limits }: Report): string | undefined =>
  limits &&
  [
    ...(limits.requests === undefined ? [] : [plural(limits.requests, "request")]),
    ...(limits.milliseconds === undefined ? [] : [duration(limits.milliseconds)]),
    `${duration(limits.checkMilliseconds)} for the random cases of a check`,
    ...(limits.effort === 1 ? [] : [`effort ${limits.effort}`]),
    ...(limits.only.length === 0 ? [] : [`only ${limits.only.join(" ")}`]),
    ...(limits.exclude.length === 0 ? [] : [`without ${limits.exclude.join(" ")}`])
  ].join(", ")

/** Returns the known facts about the origin of a report, each with its name. */
export const provenance = (report: Report): ReadonlyArray<readonly [string, string]> =>
  (
    [
      ["Implementation", implementation(report)],
      ["Contract", contract(report)],
      ["Suite", suite(report)],
      ["Profiles", profiles(report)],
      ["Limits", limits(report)]
    ] as const
  ).flatMap(([name, text]) => (text === undefined || text === "" ? [] : [[name, text] as const]))

/** Formats a step in one line. */
export const step = ({ did, got }: ReportedStep): string => printable(got === "" ? did : `${did} → ${got}`)
