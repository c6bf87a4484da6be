/**
 * Renders a report in the JUnit dialect that CI services read: a suite for each profile, and a case for each check. An
 * inconclusive check is a skipped case with the reason, because it is not a failure of the subject; the exit code of
 * the run shows that it is not a pass.
 */

import * as Arr from "effect/Array"
import type { CheckResult, Report } from "../engine/Report.ts"
import { type Markup, markup } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** A check, or the run itself. */
type Case = Omit<CheckResult, "profile"> & { readonly profile: string }

/**
 * Renders the report as an XML 1.0 document. Line breaks and other control characters in texts are shown as escapes.
 */
export const render = (report: Report): string => {
  const cases: ReadonlyArray<Case> = [...report.checks, ...failedRun(report)]
  const suites = Object.entries(Arr.groupBy(cases, ({ profile }) => profile)).map(
    ([name, inside]) => markup`<testsuite name="${name}" timestamp="${report.startedAt}"${tally(inside)}>
${inside.map(testcase)}
</testsuite>`
  )
  const time = (report.milliseconds / 1_000).toFixed(3)
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${report.suite.name}" time="${time}"${tally(cases)}>
${suites}
</testsuites>
`.text
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

const testcase = (check: Case): Markup =>
  markup`<testcase classname="${check.profile}" name="${check.id}">${resultOf(check)}</testcase>`

const resultOf = (check: Case): Markup | string => {
  const message = Wording.summary(check)
  switch (check.status) {
    case "pass":
      return ""
    case "fail":
      return markup`<failure message="${message}" type="violation">${Wording.failure(check)}</failure>`
    case "error":
      return markup`<error message="${message}" type="suite-error">${check.law}</error>`
    case "inconclusive":
    case "not-applicable":
    case "excluded":
      return markup`<skipped message="${check.status.replace("-", " ")}: ${message}"/>`
  }
}

/** Counts the checks, failures, errors and skipped checks, as attributes that consumers of JUnit add up. */
const tally = (checks: ReadonlyArray<Case>): Markup => {
  const count = (...statuses: ReadonlyArray<CheckResult["status"]>) =>
    checks.filter(({ status }) => statuses.includes(status)).length
  const skipped = count("not-applicable", "excluded", "inconclusive")
  return markup` tests="${checks.length}" failures="${count("fail")}" errors="${count("error")}" skipped="${skipped}"`
}
