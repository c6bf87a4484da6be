import { describe, expect, it } from "vitest"
import type { Report } from "../engine/Report.ts"
import { example } from "./Report.fixture.ts"
import * as Terminal from "./Terminal.ts"
import * as Wording from "./Wording.ts"

describe("Terminal.render", () => {
  it("fits on one screen, and ends with the verdict", () => {
    const scripts = new Map([["rate.remaining.decrements", "out/rate.remaining.decrements.sh"]])
    expect(`\n${Terminal.render(example, { scripts })}\n`).toBe(`
FAIL  rate.remaining.decrements
      spec: rate.remaining §8.3, rate.headers
      Remaining falls by one for every request that is counted.
      1. GET /pets?limit=1 (tiny key) → 200, remaining 4 []
      2. GET /pets?limit=0 (tiny key) → 400, remaining 4 {"code":"invalid_parameter"}
      expected  remaining 3 (plan "tiny")
      actual    remaining 4
      found after 14 runs and 6 shrinks, seed 184210; reproduces 3/3
      script    out/rate.remaining.decrements.sh
      replay    animal-store conformance replay asc1_q1bKzVeyUkrOz03MVbBVMjBUqgUA

FAIL  list.limit.maximum
      spec: list.limit.maximum §4.1
      A limit above 100 is rejected.
      1. GET /pets?limit=101 → 200, remaining 51 []
      expected  400
      actual    200
      found by a boundary example; reproduces 1/3 (intermittent)
      replay    animal-store conformance replay asc1_q1bKzVeyUkrOz03MVbBVMjBUqgUA

ERROR  pets.parallel: TypeError: x is undefined

WARN  cache.no-store: no Cache-Control on 401 (RFC 9111)

INCONCLUSIVE  rate.window.restores, rate.day.restores: the window is 86400 s; a clock makes it
      possible

NOT APPLICABLE  ban.ends: the subject declares no victimKey

planned 84, executed 80, suite errors 1, failed 2, inconclusive 2, warnings 1, passed 74, not
applicable 3, excluded 1
NOT CONFORMANT at level spec: 2 of 80 checks failed, 1 warning · 412 requests, 38 s (waited 9 s for limits) · seed 184210
`)
  })

  it("shows only the last 8 of many steps, with their original numbers", () => {
    const steps = Array.from({ length: 12 }, (_, index) => ({ did: `do ${index + 1}`, got: "done" }))
    const checks = example.checks.map((check) => ({
      ...check,
      counterexample: check.counterexample && { ...check.counterexample, steps }
    }))
    const lines = Terminal.render({ ...example, checks }).split("\n")
    const from = lines.indexOf("      … 4 earlier steps")
    expect(lines.slice(from + 1, from + 9).map((line) => line.trim().slice(0, 9))).toEqual([
      "5. do 5 →",
      "6. do 6 →",
      "7. do 7 →",
      "8. do 8 →",
      "9. do 9 →",
      "10. do 10",
      "11. do 11",
      "12. do 12"
    ])
  })

  it("shows 8 of many failures in full, and each other failure in one line", () => {
    const [failed] = example.checks
    if (failed === undefined) throw new Error("the example has no check")
    const checks = Array.from({ length: 40 }, (_, index) => ({ ...failed, id: `check.${index}` }))
    const text = Terminal.render({ ...example, checks })
    expect(text.match(/replay {4}/g)).toHaveLength(8)
    expect(text).toContain("FAIL  check.39: expected remaining 3, got remaining 4")
  })

  it("shows the findings of the doctor if the verdict is error", () => {
    const failed: Report = {
      ...example,
      verdict: "error",
      checks: [],
      counts: { ...example.counts, executed: 0, error: 0 },
      findings: ["the key is not accepted: 401"]
    }
    expect(Terminal.render(failed)).toMatch(/^the key is not accepted: 401\n/)
    expect(Wording.verdict(failed)).toBe("ERROR: no check was executed")
  })
})

describe("Wording.verdict", () => {
  it("returns a sentence for each verdict", () => {
    const verdictOf = (verdict: Report["verdict"]) => Wording.verdict({ ...example, verdict })
    expect(verdictOf("conformant")).toBe("CONFORMANT at level spec: all 80 checks passed, 1 warning")
    expect(verdictOf("inconclusive")).toBe(
      "INCONCLUSIVE at level spec: 2 of 84 checks could not be decided, 1 warning"
    )
    expect(verdictOf("selection-passed")).toBe(
      "SELECTION PASSED at level spec: 80 of 84 checks executed, 1 excluded, 1 warning"
    )
    expect(verdictOf("error")).toBe("ERROR: the suite itself failed in 1 of 80 checks")
  })
})

describe("Terminal.progress", () => {
  it("returns the progress of a run in one line", () => {
    const run = { done: 12, planned: 84, id: "limits.burst", requests: 312, milliseconds: 14_000 }
    expect(Terminal.progress(run)).toBe("[12/84] limits.burst  312 requests  14 s")
    expect(Terminal.progress({ ...run, waiting: "waiting 41 s for limits" }, 50)).toBe(
      "[12/84] limits.burst  312 requests  14 s  waiting…"
    )
  })
})

describe("Wording.duration", () => {
  it("returns durations in suitable units", () => {
    expect([0, 999, 1_000, 3_240, 9_949, 9_950, 59_499, 59_500, 125_000].map(Wording.duration)).toEqual([
      "0 ms",
      "999 ms",
      "1 s",
      "3.2 s",
      "9.9 s",
      "10 s",
      "59 s",
      "1 min 0 s",
      "2 min 5 s"
    ])
  })
})
