/** Creates the texts that all renderings of a report share. */
import type { Step } from "../clauses/Finding.ts"
import type { Cause, CheckResult, Report } from "../engine/Report.ts"
import * as Moment from "../http/Moment.ts"
import { printable } from "../http/Printable.ts"

/** Returns the command that replays a failure, if there is a token. */
export const replayCommand = ({
  counterexample
}: Pick<CheckResult, "counterexample">): ReadonlyArray<string> =>
  counterexample?.token === undefined
    ? []
    : [`animal-store conformance replay ${printable(counterexample.token)}`]

/** Returns the cost of a run, such as `412 requests, 38 s (waited 9 s for limits)`. */
export const cost = ({
  milliseconds,
  requests,
  waitedMs
}: Pick<Report, "milliseconds" | "requests" | "waitedMs">): string => {
  const sent = requests > 0 ? `${plural(requests, "request")}, ` : ""
  const waited = waitedMs > 0 ? ` (waited ${duration(waitedMs)} for limits)` : ""
  return `${sent}${duration(milliseconds)}${waited}`
}

/** Returns the verdict and its reason, such as `CONFORMANT at level spec: all 79 checks passed`. */
export const verdict = (report: Report): string => {
  const { counts, level, verdict } = report
  const { decided, error, excluded, fail, inconclusive, planned } = counts
  // How many requests rejections left undecided.
  const open = report.choices.flatMap((choice) => /^[^:]*\bundecided\b/.exec(choice) ?? [])
  const openCases = open.map((each) => `; ${each}`).join("")
  switch (verdict) {
    case "conformant":
      return `CONFORMANT at level ${level}: all ${plural(decided, "check")} passed${openCases}`
    case "not-conformant":
      return `NOT CONFORMANT at level ${level}: ${fail} of ${plural(decided, "check")} failed`
    case "inconclusive":
      return `INCONCLUSIVE at level ${level}: ${inconclusive} of ${plural(planned, "check")} could not be decided`
    case "selection-passed":
      return `SELECTION PASSED at level ${level}: ${decided} of ${plural(planned, "check")} decided, ${excluded} excluded${openCases}`
    case "error":
      return decided === 0
        ? "ERROR: no check was decided"
        : `ERROR: the suite itself failed in ${error} of ${plural(planned, "check")}`
  }
}

/**
 * Returns the claims that a run allows although it is not conformant as a whole, such as `conformant: core, auth`;
 * `undefined` if there are none.
 */
export const claims = ({ claims, verdict }: Report): string | undefined =>
  claims.length === 0 || verdict === "conformant" ? undefined : `conformant: ${claims.join(", ")}`

/** Returns the reason for the status of a check, in one sentence. */
export const summary = ({ counterexample, reason }: Pick<CheckResult, "counterexample" | "reason">): string =>
  reason ||
  (counterexample === undefined
    ? "no reason was given"
    : `expected ${counterexample.expected}, got ${counterexample.actual}`)

/** Returns each cause with its check, in the order of the report. */
export const causes = ({ causes, checks }: Report): ReadonlyArray<readonly [CheckResult, Cause]> =>
  causes.flatMap((cause) => {
    const check = checks.find(({ id, status }) => id === cause.check && status === "fail")
    return check === undefined ? [] : [[check, cause] as const]
  })

/** Returns how many violations a cause may explain, such as `37 more violations may follow from it.`, if any. */
export const consequences = ({ follows, more }: Cause): ReadonlyArray<string> => {
  const also = follows.length === 0 ? "" : `, also of ${follows.join(", ")}`
  return more === 0 ? [] : [`${plural(more, "more violation")} may follow from it${also}.`]
}

/** Returns what a check found, each part with its name. */
export const evidence = (
  check: Pick<CheckResult, "counterexample" | "reason">
): ReadonlyArray<readonly [name: string, text: string]> => {
  const { counterexample } = check
  if (counterexample === undefined) return [["reason", summary(check)]]
  const { actual, expected, tally } = counterexample
  return [
    ...(tally === undefined ? [] : [["in all", tally] as const]),
    ["expected", expected],
    ["actual", actual]
  ]
}

/** Formats a duration with two digits or whole seconds: `0.9 s`, `3.2 s`, `38 s`, `2 min 5 s`. */
export const duration = (milliseconds: number): string => {
  const unit = milliseconds < 9_950 ? 100 : 1_000
  return Moment.duration(Math.round(milliseconds / unit) * unit)
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Returns the versions of the clauses and of the package, such as `1.0.0 (animal-store 0.1.0)`. */
export const suite = ({ suite: { laws, name, version } }: Report): string => `${laws} (${name} ${version})`

/** Returns the declared implementation, such as `Shop 2.1, https://shop.example`; `undefined` if there is no declaration. */
export const implementation = ({ implementation }: Report): string | undefined =>
  implementation &&
  [
    [implementation.name, implementation.version].filter((part) => part !== undefined).join(" "),
    ...(implementation.contact === undefined ? [] : [implementation.contact])
  ].join(", ")

/** Returns the results by profile, such as `core 81/81 pass, limits 20/24 inconclusive`. */
export const profiles = ({ profiles }: Report): string =>
  profiles
    .filter(({ status }) => status !== "excluded")
    .map(({ passed, planned, profile, status }) => `${profile} ${passed}/${planned} ${status}`)
    .join(", ")

/** Returns the facts that are known of a run, each with its name. */
export const facts = (report: Report): ReadonlyArray<readonly [name: string, fact: string]> =>
  (
    [
      ["Subject", `${report.subject.name} (${report.subject.kind})`],
      ["Level", report.level],
      ["Started", report.startedAt],
      ["Cost", cost(report)],
      ["Seed", String(report.seed)],
      ["Implementation", implementation(report)],
      ["Contract", `${report.contract.name} ${report.contract.version}`],
      ["Suite", suite(report)],
      ["Declared", report.subject.capabilities.join(", ")],
      [
        "Checks",
        Object.entries(report.counts)
          .map(([status, count]) => `${count} ${status}`)
          .join(", ")
      ],
      ["Profiles", profiles(report)],
      ["Claims", claims(report)]
    ] as const
  ).flatMap(([name, fact]) => (fact === undefined || fact === "" ? [] : [[name, fact] as const]))

/** Formats a step in one line. */
export const step = ({ did, got }: Step): string => printable(got === "" ? did : `${did} → ${got}`)

/** Formats steps with their numbers, one line each. */
export const numbered = (steps: ReadonlyArray<Step>): ReadonlyArray<string> =>
  steps.map((each, index) => `${index + 1}. ${step(each)}`)

/** Describes a failed check in lines: the clause, each step with its command, what was found, and the replay. */
export const failure = (
  check: Pick<CheckResult, "law" | "section" | "level" | "counterexample" | "reason">
): ReadonlyArray<string> => [
  printable(`${check.law} (${check.section}, level ${check.level})`),
  ...(check.counterexample?.steps ?? []).flatMap((each, index) => [
    `${index + 1}. ${step(each)}`,
    ...(each.curl === undefined ? [] : [`   ${printable(each.curl)}`])
  ]),
  ...evidence(check).map(([name, text]) => `${name.padEnd(8)} ${printable(text)}`),
  ...replayCommand(check)
]
