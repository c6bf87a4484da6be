import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { Report } from "../conformance/engine/Report.ts"
import * as Run from "../conformance/engine/Run.ts"
import * as Json from "../conformance/reports/Json.ts"
import * as Subjects from "../conformance/selftest/Subjects.ts"
import * as HttpSubject from "../conformance/subjects/HttpSubject.ts"
import * as ImplementationsPage from "./ImplementationsPage.ts"
import * as SuiteVersions from "./SuiteVersions.ts"

const options = { level: "spec", seed: 1, implementation: { name: "Ours", version: "1.0" } } as const

const report: Report = await Effect.runPromise(
  Subjects.withSubject(Subjects.reference, 1, (opened) => {
    if (!HttpSubject.is(opened)) throw new Error("the reference is not a server")
    // Few requests: most checks are inconclusive, but the report has all of them.
    const subject = { ...opened, budget: { ...opened.budget, requests: 200 } }
    return Run.run(subject, options)
  })
)

const page = readFileSync(ImplementationsPage.path, "utf8")

const rowWith = (changes: Partial<Report>): string =>
  ImplementationsPage.row(ImplementationsPage.parseSubmission(Json.render({ ...report, ...changes })))

describe("conformance/implementations.md", () => {
  it("lists our servers, and names only versions of the suite that exist", () => {
    const rows = ImplementationsPage.rowsOf(page).map((line) => line.slice(2, -2).split(" | "))
    expect(rows.map(([name]) => name)).toEqual(["animal-store", "self-test server in Python"])
    const versions = SuiteVersions.readVersions().map(({ version }) => version)
    expect(rows.filter((cells) => !versions.includes(cells.at(-1) ?? ""))).toEqual([])
  })

  it("gets a row for a new report, which replaces the row with the same name", () => {
    const listed = ImplementationsPage.withReport(page, report)
    expect(ImplementationsPage.rowsOf(listed)).toEqual(
      [...ImplementationsPage.rowsOf(page), ImplementationsPage.row(report)].toSorted()
    )
    const again = { ...report, implementation: { name: "Ours", version: "1.1" } }
    expect(ImplementationsPage.withReport(listed, again)).toBe(ImplementationsPage.withReport(page, again))
  })

  it("links to the contact of an implementation, and escapes Markdown in its name and version", () => {
    const row = rowWith({
      implementation: { name: "A | <b>[x](y)", version: "1|2", contact: "https://shop.example/a_b?c=d" }
    })
    expect(row).toContain("](<https://shop.example/a_b?c=d>)")
    expect(row).toContain("| A &#124; &#60;b&#62;&#91;x&#93;(y) | 1&#124;2 |")
    expect(rowWith({ implementation: { name: "A", contact: "a@b.example" } })).toContain(
      "(<mailto:a@b.example>)"
    )
  })

  const { implementation: _, ...anonymous } = report
  it.each<[string, Report, RegExp]>([
    ["no implementation", anonymous, /names no implementation/],
    [
      "a contact that pages cannot link to",
      { ...report, implementation: { name: "A", contact: "javascript:alert(1)" } },
      /must be an email address.*\s+at \["contact"\]/
    ],
    [
      "ports as its subject",
      { ...report, subject: { ...report.subject, kind: "port" } },
      /not about a server/
    ],
    ["an error as its verdict", { ...report, verdict: "error" }, /its run failed/],
    ["a missing check", { ...report, checks: report.checks.slice(1) }, /not those of version /],
    [
      "another law for a check",
      {
        ...report,
        checks: report.checks.map((check, index) => (index === 0 ? { ...check, law: "It passes." } : check))
      },
      /not those of version/
    ],
    [
      "an unknown version of the suite",
      { ...report, suite: { ...report.suite, laws: "0.0.1" } },
      /the suite has no version 0\.0\.1/
    ],
    [
      "counts that do not match its checks",
      { ...report, counts: { ...report.counts, pass: report.counts.pass + 1 } },
      /its counts/
    ],
    [
      "a failed check that the counts do not include",
      {
        ...report,
        checks: report.checks.map((check, index) => (index === 0 ? { ...check, status: "fail" } : check))
      },
      /its counts/
    ],
    [
      "a verdict that does not follow from the checks",
      { ...report, verdict: report.verdict === "conformant" ? "inconclusive" : "conformant" },
      /its verdict/
    ],
    ["a claim that the checks do not support", { ...report, claims: ["port"] }, /its claims/]
  ])("rejects a report with %s", (_problem, invalid, reason) => {
    expect(() => ImplementationsPage.parseSubmission(Json.render(invalid))).toThrow(reason)
  })

  it("rejects JSON that is not a report", () => {
    expect(() => ImplementationsPage.parseSubmission("{}")).toThrow(/not a report/)
  })
})
