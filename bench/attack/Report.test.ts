import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Finding from "./Finding.ts"
import * as Report from "./Report.ts"
import { scenarios } from "./Scenarios.ts"

const result: Report.Result = {
  scenario: { name: "flood", description: "many | requests" },
  database: "SQLite",
  findings: [
    Finding.measured("requests", 12_345),
    Finding.atMost("RSS at most", 512.4, 400, "MB"),
    Finding.atLeast("responses", 100, 100),
    Finding.equal("server", "alive", "alive")
  ]
}

describe("a report", () => {
  it("has one line for each figure, with its bound and whether the figure is within it", () => {
    expect(Report.lines(result).split("\n")).toEqual([
      "pass  flood               SQLite      requests: 12,345",
      "FAIL  flood               SQLite      RSS at most: 512 MB (≤ 400 MB)",
      "pass  flood               SQLite      responses: 100 (≥ 100)",
      "pass  flood               SQLite      server: alive (alive)"
    ])
    expect(Report.isPassed(result)).toBe(false)
    expect(Report.isPassed({ ...result, findings: result.findings.slice(2) })).toBe(true)
  })

  it("fails if a figure is not a number", () => {
    expect(Finding.atMost("RSS", Number.NaN, 400).holds).toBe(false)
    expect(Finding.atMost("RSS", Number.POSITIVE_INFINITY, 400).holds).toBe(false)
    expect(Finding.atLeast("responses", Number.NaN, 1).holds).toBe(false)
  })

  it("is a table with exceeded bounds in bold, and with escaped bars", () => {
    expect(Report.table([result]).split("\n")[2]).toBe(
      "| `flood`: many \\| requests | SQLite | requests: 12,345; **RSS at most: 512 MB (≤ 400 MB)**; responses: 100 (≥ 100); server: alive (alive) |"
    )
  })

  it("replaces the table of docs/security.md and nothing else", () => {
    const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8")
    const once = Report.inserted(page, "first")
    expect(once).toContain("\n\nfirst\n\n")
    expect(Report.inserted(once, "second")).toBe(once.replace("first", "second"))
    expect(once.startsWith(page.slice(0, 500))).toBe(true)
    expect(() => Report.inserted("no markers", "table")).toThrow("markers")
  })
})

describe("the scenarios", () => {
  it("have unique names", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  })
})
