import { describe, expect, it } from "vitest"
import type { Report } from "../engine/Report.ts"
import { example } from "./Report.fixture.ts"
import * as Terminal from "./Terminal.ts"
import * as Wording from "./Wording.ts"

const [failed] = example.checks
const counterexample = failed?.counterexample
if (failed === undefined || counterexample === undefined) throw new Error("the example has no failed check")

describe("Terminal.render", () => {
  it("shows the verdict, the probable cause, and all else in few lines", () => {
    expect(`\n${Terminal.render(example)}\n`).toBe(`
NOT CONFORMANT at level spec: 2 of 3 checks failed · 412 requests, 38 s (waited 9 s for limits) ·
seed 184210

FAIL  list.limit.ceiling (§8.1, level spec)
  No list holds more than 100 animals, whatever the requested limit.
  1. GET /pets?limit=101 → 200 [...]
  expected  at most 100 animals
  actual    101

FAIL  limits.remaining-truth (and 37 more)
  The window shown admits at least as many further requests as Remaining says.
  GET /pets?limit=0 (tiny key) → 400, remaining 4 {"code":"invalid_parameter"}
  expected  remaining 3 (plan "tiny")
  actual    remaining 4

ERROR  limits.atomic: TypeError: x is undefined

INCONCLUSIVE  2 checks: it needs a clock
  limits.per-day, limits.per-minute

NOT APPLICABLE  ban.temporary: the subject declares that it never bans

Programs that stopped early:
- the request budget is spent (412): day by all requests, day by creations

The contract leaves open, and the subject chose:
- a limit above 100: rejected
- 29 of 58 creations undecided: the server rejects charset=utf-8

core 1/2 fail, limits 0/3 fail, concurrency 0/1 error, ban 0/1 not-applicable
`)
  })

  it("shows the first and the last of many steps, with their numbers", () => {
    const steps = Array.from({ length: 12 }, (_, index) => ({ did: `do ${index + 1}`, got: "done" }))
    const check = { ...failed, counterexample: { ...counterexample, steps, times: 1 } }
    const causes = [{ check: check.id, follows: [], more: 0 }]
    const lines = Terminal.render({ ...example, checks: [check], causes }).split("\n")
    const shown = lines.filter((line) => /^ +(\d+\. do|…)/.test(line)).map((line) => line.trim())
    expect(shown).toEqual([
      "1. do 1 → done",
      "… 8 more steps …",
      ...[10, 11, 12].map((number) => `${number}. do ${number} → done`)
    ])
  })

  it("shows what the doctor found if the verdict is error", () => {
    const error: Report = {
      ...example,
      verdict: "error",
      checks: [],
      causes: [],
      counts: { ...example.counts, decided: 0, error: 0 },
      findings: ["the key is not accepted: 401"]
    }
    expect(Terminal.render(error)).toContain("\n\nthe key is not accepted: 401\n")
    expect(Wording.verdict(error)).toBe("ERROR: no check was decided")
  })
})

describe("Wording.verdict", () => {
  it("returns a sentence for each verdict", () => {
    const verdictOf = (verdict: Report["verdict"]) => Wording.verdict({ ...example, verdict })
    const open = "29 of 58 creations undecided"
    expect(verdictOf("conformant")).toBe(`CONFORMANT at level spec: all 3 checks passed; ${open}`)
    expect(verdictOf("inconclusive")).toBe("INCONCLUSIVE at level spec: 2 of 8 checks could not be decided")
    expect(verdictOf("selection-passed")).toBe(
      `SELECTION PASSED at level spec: 3 of 8 checks decided, 1 excluded; ${open}`
    )
    expect(verdictOf("error")).toBe("ERROR: the suite itself failed in 1 of 8 checks")
  })
})

describe("Terminal.progress", () => {
  it("returns the progress of a run in one line", () => {
    const run = { index: 12, total: 84, id: "limits.burst", requests: 312, waitedMs: 9_000 }
    expect(Terminal.progress(run, 14_000)).toBe(
      "[12/84] limits.burst  312 requests, 14 s (waited 9 s for limits)"
    )
  })
})

describe("Wording.duration", () => {
  it("returns durations in suitable units", () => {
    expect([0, 999, 1_000, 3_240, 9_949, 9_950, 59_499, 59_500, 125_000].map(Wording.duration)).toEqual([
      "0 s",
      "1 s",
      "1 s",
      "3.2 s",
      "9.9 s",
      "10 s",
      "59 s",
      "1 min",
      "2 min 5 s"
    ])
  })
})
