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

describe("a report", () => {
  it("lines formats one line per figure, with its bound and whether the figure is within it", () => {
    expect(Report.lines(result).split("\n")).toEqual([
      "pass  flood               SQLite      requests: 12,345",
      "FAIL  flood               SQLite      peak RSS: 512 MB (≤ 400 MB)",
      "pass  flood               SQLite      responses: 100 (≥ 100)",
      "pass  flood               SQLite      server: alive (alive)"
    ])
    expect(Report.isPassed(result)).toBe(false)
    expect(Report.isPassed({ ...result, findings: result.findings.slice(2) })).toBe(true)
  })

  it("a finding fails if its figure is NaN, or is infinite with an upper bound", () => {
    expect(Finding.atMost("RSS", Number.NaN, 400).holds).toBe(false)
    expect(Finding.atMost("RSS", Number.POSITIVE_INFINITY, 400).holds).toBe(false)
    expect(Finding.atLeast("responses", Number.NaN, 1).holds).toBe(false)
  })

  it("mayBeLoad is true only if a figure fails and all failing figures depend on the machine's load", () => {
    const of = (...findings: Report.Result["findings"]) => Report.mayBeLoad({ ...result, findings })
    expect(Report.mayBeLoad(result)).toBe(true)
    expect(of(Finding.notCarriedOut("timed out"))).toBe(true)
    expect(of(...result.findings, Finding.equal("lost", 1, 0))).toBe(false)
    expect(of(Finding.atMost("peak RSS", 399, 400, "MB"))).toBe(false)
  })

  it("table shows exceeded bounds in bold, and escapes vertical bars", () => {
    expect(Report.table([result]).split("\n")[2]).toBe(
      "| `flood`: many \\| requests | SQLite | requests: 12,345; **peak RSS: 512 MB (≤ 400 MB)**; responses: 100 (≥ 100); server: alive (alive) |"
    )
  })

  it("inserted replaces only the table in docs/security.md", () => {
    const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8")
    const once = Report.inserted(page, "first")
    expect(once).toContain("\n\nfirst\n\n")
    expect(Report.inserted(once, "second")).toBe(once.replace("first", "second"))
    expect(once.startsWith(page.slice(0, 500))).toBe(true)
    expect(() => Report.inserted("no markers", "table")).toThrow("markers")
  })
})

describe("the scenarios", () => {
  it("all scenarios have different names", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  })
})
