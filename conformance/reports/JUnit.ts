/**
 * Renders a report in the JUnit dialect that CI services read: a suite for each profile, and a case for each check. An
 * inconclusive check is a skipped case with the reason, because it is not a failure of the subject; the exit code of
 * the run shows that it is not a pass.
 */

import { type Profile, profiles } from "../clauses/Profile.ts"
import type { CheckResult, Report } from "../engine/Report.ts"
import { escaped } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/**
 * Renders the report as an XML 1.0 document. Line breaks and other control characters in texts are shown as escapes.
 */
export const render = (report: Report): string => {
  const suites = profiles
    .map((profile) => [profile, report.checks.filter((check) => check.profile === profile)] as const)
    .filter(([, checks]) => checks.length > 0)
    .map(([profile, checks]) => testsuite(profile, checks, report))
  const failedRun = hasUnreportedError(report) ? failedTestsuite(report) : []
  const totals = {
    ...tally(report.checks),
    ...(failedRun.length === 0 ? {} : { tests: String(report.checks.length + 1), errors: "1" })
  }
  const name = report.suite.name
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name, ...totals, time: seconds(report.milliseconds) })}>`,
    ...suites.flat(),
    ...failedRun,
    "</testsuites>",
    ""
  ].join("\n")
}

/** Whether the run as a whole failed, but no check did; without a failed case, the document would look like a pass. */
const hasUnreportedError = ({ checks, verdict }: Report): boolean =>
  verdict === "error" && checks.every(({ status }) => status !== "error" && status !== "fail")

/** Renders the run itself as a failed case. */
const failedTestsuite = (report: Report): ReadonlyArray<string> => [
  `  <testsuite${attributes({ name: "run", tests: "1", failures: "0", errors: "1", skipped: "0" })}>`,
  `    <testcase${attributes({ classname: "run", name: "run", time: seconds(report.milliseconds) })}>`,
  `      ${element("error", { message: Wording.verdict(report), type: "suite-error" }, report.findings)}`,
  "    </testcase>",
  "  </testsuite>"
]

const testsuite = (
  profile: Profile,
  checks: ReadonlyArray<CheckResult>,
  report: Report
): ReadonlyArray<string> => {
  const properties = {
    ...Object.fromEntries(
      Wording.provenance(report).map(([name, text]) => [name.toLowerCase(), text] as const)
    ),
    subject: report.subject.name,
    level: report.level,
    seed: String(report.seed),
    verdict: Wording.verdict(report)
  }
  return [
    `  <testsuite${attributes({ name: profile, ...tally(checks), timestamp: report.startedAt })}>`,
    "    <properties>",
    ...Object.entries(properties).map(([name, value]) => `      <property${attributes({ name, value })}/>`),
    "    </properties>",
    ...checks.flatMap(testcase),
    "  </testsuite>"
  ]
}

const testcase = (check: CheckResult): ReadonlyArray<string> => {
  const open = `    <testcase${attributes({ classname: check.profile, name: check.id })}`
  const content = resultOf(check)
  return content === undefined ? [`${open}/>`] : [`${open}>`, `      ${content}`, "    </testcase>"]
}

const resultOf = (check: CheckResult): string | undefined => {
  const message = Wording.summary(check)
  switch (check.status) {
    case "pass":
      return undefined
    case "warn":
      return element("system-out", {}, [`warning: ${message}`, ...describeFailure(check)])
    case "fail":
      return element("failure", { message, type: "violation" }, describeFailure(check))
    case "error":
      return element("error", { message, type: "suite-error" }, [check.law])
    case "inconclusive":
    case "not-applicable":
    case "excluded":
      return `<skipped${attributes({ message: `${check.status.replace("-", " ")}: ${message}` })}/>`
  }
}

/** Describes a failure: the clause, the steps with their commands, and the command that replays them. */
const describeFailure = ({ counterexample, law, section }: CheckResult): ReadonlyArray<string> => [
  `${law} (${section})`,
  ...(counterexample === undefined
    ? []
    : [
        ...counterexample.steps.flatMap((step, index) => [
          `${index + 1}. ${Wording.step(step)}`,
          ...(step.curl === undefined ? [] : [`   ${step.curl}`])
        ]),
        `expected: ${counterexample.expected}`,
        `actual: ${counterexample.actual}`,
        Wording.replayCommand(counterexample) ?? ""
      ])
]

/** Counts the checks, failures, errors and skipped checks, as attributes that consumers of JUnit add up. */
const tally = (checks: ReadonlyArray<CheckResult>) => {
  const count = (...statuses: ReadonlyArray<CheckResult["status"]>) =>
    String(checks.filter(({ status }) => statuses.includes(status)).length)
  return {
    tests: String(checks.length),
    failures: count("fail"),
    errors: count("error"),
    skipped: count("not-applicable", "excluded", "inconclusive")
  }
}

const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(3)

const attributes = (values: { readonly [name: string]: string }): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join("")

const element = (
  name: string,
  values: { readonly [name: string]: string },
  lines: ReadonlyArray<string>
): string => `<${name}${attributes(values)}>${lines.map(escaped).join("\n")}</${name}>`
