/**
 * Renders a report in the JUnit dialect that CI services read: a suite for each profile, and a case for each check. An
 * inconclusive check is a skipped case with the reason, because it is not a failure of the subject; the exit code of
 * the run shows that it is not a pass.
 */

import * as Arr from "effect/Array"
import type { CheckResult, Report } from "../engine/Report.ts"
import { escaped } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** A check, or the run itself. */
type Case = Omit<CheckResult, "profile"> & { readonly profile: string }

/**
 * Renders the report as an XML 1.0 document. Line breaks and other control characters in texts are shown as escapes.
 */
export const render = (report: Report): string => {
  const cases: ReadonlyArray<Case> = [...report.checks, ...failedRun(report)]
  const suites = Object.entries(Arr.groupBy(cases, ({ profile }) => profile)).flatMap(([name, inside]) => [
    `  <testsuite${attributes({ name, ...tally(inside), timestamp: report.startedAt })}>`,
    ...inside.flatMap(testcase),
    "  </testsuite>"
  ])
  const time = (report.milliseconds / 1_000).toFixed(3)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: report.suite.name, ...tally(cases), time })}>`,
    ...suites,
    "</testsuites>",
    ""
  ].join("\n")
}

/** Returns the run as a case if it failed, but no check did; without it, the document would look like a pass. */
const failedRun = (report: Report): ReadonlyArray<Case> =>
  report.verdict === "error" && report.checks.every(({ status }) => status !== "error" && status !== "fail")
    ? [
        {
          id: "run",
          law: report.findings.join("; "),
          section: "",
          level: report.level,
          profile: "run",
          status: "error",
          reason: Wording.verdict(report),
          decided: 0
        }
      ]
    : []

const testcase = (check: Case): ReadonlyArray<string> => {
  const open = `    <testcase${attributes({ classname: check.profile, name: check.id })}`
  const content = resultOf(check)
  return content === undefined ? [`${open}/>`] : [`${open}>`, `      ${content}`, "    </testcase>"]
}

const resultOf = (check: Case): string | undefined => {
  const message = Wording.summary(check)
  switch (check.status) {
    case "pass":
      return undefined
    case "fail":
      return element("failure", { message, type: "violation" }, Wording.failure(check))
    case "error":
      return element("error", { message, type: "suite-error" }, [check.law])
    case "inconclusive":
    case "not-applicable":
    case "excluded":
      return `<skipped${attributes({ message: `${check.status.replace("-", " ")}: ${message}` })}/>`
  }
}

/** Counts the checks, failures, errors and skipped checks, as attributes that consumers of JUnit add up. */
const tally = (checks: ReadonlyArray<Case>) => {
  const count = (...statuses: ReadonlyArray<CheckResult["status"]>) =>
    String(checks.filter(({ status }) => statuses.includes(status)).length)
  return {
    tests: String(checks.length),
    failures: count("fail"),
    errors: count("error"),
    skipped: count("not-applicable", "excluded", "inconclusive")
  }
}

const attributes = (values: { readonly [name: string]: string }): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join("")

const element = (
  name: string,
  values: { readonly [name: string]: string },
  lines: ReadonlyArray<string>
): string => `<${name}${attributes(values)}>${lines.map(escaped).join("\n")}</${name}>`
