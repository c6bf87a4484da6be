import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { Report } from "../conformance/engine/Report.ts"
import * as Json from "../conformance/reports/Json.ts"
import * as ImplementationsPage from "./ImplementationsPage.ts"
import * as SuiteVersions from "./SuiteVersions.ts"

const submissions = ImplementationsPage.readSubmissions()
const report = submissions.find(({ file }) => file === "python.json")?.report
if (report === undefined) throw new Error("run: node docs/OwnReports.ts python")

const pageWith = (changes: Partial<Report>): string =>
  ImplementationsPage.render([
    ImplementationsPage.parseSubmission("x.json", Json.render({ ...report, ...changes }))
  ])

describe("conformance/implementations.md", () => {
  it("lists exactly the submitted reports", () => {
    expect(readFileSync(ImplementationsPage.path, "utf8"), `run: ${ImplementationsPage.command}`).toBe(
      ImplementationsPage.render()
    )
    expect(submissions.map(({ file }) => file)).toEqual(
      expect.arrayContaining(["animal-store.json", "python.json"])
    )
  })

  it.each(submissions)(
    "lists the report $file, which names a known suite version and contains no API key",
    ({ file, report }) => {
      expect(SuiteVersions.readVersions().map(({ version }) => version)).toContain(report.suite.laws)
      expect(readFileSync(new URL(file, ImplementationsPage.directory), "utf8")).not.toMatch(
        /ast_[0-9A-Za-z]{8}|-key-of-the-report/
      )
    }
  )

  it("links to the contact of an implementation, and escapes Markdown in its name and version", () => {
    const page = pageWith({
      implementation: { name: "A | <b>[x](y)", version: "1|2", contact: "https://shop.example/a_b?c=d" }
    })
    expect(page).toContain("](<https://shop.example/a_b?c=d>)")
    expect(page).toContain("| A &#124; &#60;b&#62;&#91;x&#93;(y) 1&#124;2 |")
    expect(pageWith({ implementation: { name: "A", contact: "a@b.example" } })).toContain(
      "(<mailto:a@b.example>)"
    )
  })

  const { implementation: _, ...anonymous } = report
  const { contract: __, ...withoutContract } = report
  it.each<[string, Report, RegExp]>([
    ["no implementation", anonymous, /names no implementation/],
    ["no version of the contract", withoutContract, /no version of the contract/],
    [
      "a contact that pages cannot link to",
      { ...report, implementation: { name: "A", contact: "javascript:alert(1)" } },
      /--contact: /
    ],
    [
      "ports as its subject",
      { ...report, subject: { ...report.subject, kind: "port" } },
      /not about a server/
    ],
    ["an error as its verdict", { ...report, verdict: "error" }, /its run failed/],
    ["a missing check", { ...report, checks: report.checks.slice(1) }, /not those of version .*: list\./],
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
    expect(() => ImplementationsPage.parseSubmission("x.json", Json.render(invalid))).toThrow(reason)
  })

  it("rejects JSON that is not a report", () => {
    expect(() => ImplementationsPage.parseSubmission("x.json", "{}")).toThrow(/not a report/)
  })
})
