import { describe, expect, it } from "vitest"
import type { CheckResult } from "../engine/Report.ts"
import { example } from "./Report.fixture.ts"
import * as Wording from "./Wording.ts"

const [sample] = example.checks.filter(({ counterexample }) => counterexample !== undefined)

/** A failed check with these clauses; `blames` is another clause that was violated instead. */
const failed = (id: string, clauses: ReadonlyArray<string>, blames?: string): CheckResult => {
  if (sample?.counterexample === undefined) throw new Error("the example has a failure")
  return {
    ...sample,
    id,
    clauses,
    status: "fail",
    counterexample: { ...sample.counterexample, clause: blames }
  }
}

const grouped = (checks: ReadonlyArray<CheckResult>) =>
  Wording.byCause(checks).map(([{ id }, stopped]) => [id, stopped.map((one) => one.id)])

describe("failures grouped by cause", () => {
  it("are grouped under the check whose own clause is violated, whatever their order", () => {
    const all = [failed("list", ["b"], "a"), failed("create", ["a"]), failed("get", ["c"], "a")]
    expect(grouped(all)).toEqual([["create", ["list", "get"]]])
  })

  it("are grouped under the first of them if no check's own clause is violated", () => {
    const all = [failed("list", ["b"], "a"), failed("get", ["c"], "a"), failed("other", ["d"])]
    expect(grouped(all)).toEqual([
      ["list", ["get"]],
      ["other", []]
    ])
  })

  it("are separate if each check violated its own clause", () => {
    expect(grouped([failed("one", ["a"]), failed("two", ["a"])])).toEqual([
      ["one", []],
      ["two", []]
    ])
  })
})
