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
    Finding.atMost("peak RSS", 512.4, 400, "MB"),
    Finding.atLeast("responses", 100, 100),
    Finding.equal("server", "alive", "alive")
  ]
}

describe("the attack's report", () => {
  it("has one line per figure, with its bound and whether it is within the bound", () => {
    expect(Report.lines(result).split("\n")).toEqual([
      "pass  flood               SQLite      requests: 12,345",
      "FAIL  flood               SQLite      peak RSS: 512 MB (≤ 400 MB)",
      "pass  flood               SQLite      responses: 100 (≥ 100)",
      "pass  flood               SQLite      server: alive (alive)"
    ])
    expect(Report.hasPassed(result)).toBe(false)
    expect(Report.hasPassed({ ...result, findings: result.findings.slice(2) })).toBe(true)
  })

  it("rates NaN, and infinity with an upper bound, as out of bounds", () => {
    expect(Finding.atMost("RSS", Number.NaN, 400).isWithinBound).toBe(false)
    expect(Finding.atMost("RSS", Number.POSITIVE_INFINITY, 400).isWithinBound).toBe(false)
    expect(Finding.atLeast("responses", Number.NaN, 1).isWithinBound).toBe(false)
  })

  it("attributes a failure to machine load only if all failing figures depend on it", () => {
    const mayBeDueToLoad = (...findings: Report.Result["findings"]) =>
      Report.mayBeDueToLoad({ ...result, findings })
    expect(Report.mayBeDueToLoad(result)).toBe(true)
    expect(mayBeDueToLoad(Finding.notCompleted("timed out"))).toBe(true)
    expect(mayBeDueToLoad(...result.findings, Finding.equal("lost", 1, 0))).toBe(false)
    expect(mayBeDueToLoad(Finding.atMost("peak RSS", 399, 400, "MB"))).toBe(false)
  })

  it("has a table that shows exceeded bounds in bold and escapes vertical bars", () => {
    expect(Report.table([result]).split("\n")[2]).toBe(
      "| `flood`: many \\| requests | SQLite | requests: 12,345; **peak RSS: 512 MB (≤ 400 MB)**; responses: 100 (≥ 100); server: alive (alive) |"
    )
  })

  it("replaces only the table in docs/security.md", () => {
    const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8")
    const inserted = Report.insertTable(page, "first")
    expect(inserted).toContain("\n\nfirst\n\n")
    expect(Report.insertTable(inserted, "second")).toBe(inserted.replace("first", "second"))
    expect(inserted.startsWith(page.slice(0, 500))).toBe(true)
    expect(() => Report.insertTable("no markers", "table")).toThrow("markers")
  })
})

describe("the attack's scenarios", () => {
  it("have different names", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  })
})
