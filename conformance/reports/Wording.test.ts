import { describe, expect, it } from "vitest"
import type { CheckResult } from "../engine/Report.ts"
import { example } from "./Report.fixture.ts"
import * as Wording from "./Wording.ts"

const [sample] = example.checks.filter(({ counterexample }) => counterexample !== undefined)

/** Creates a failed check with these clauses; if `violatedClause` is given, the check violated that clause instead. */
const failedCheck = (id: string, clauses: ReadonlyArray<string>, violatedClause?: string): CheckResult => {
  if (sample?.counterexample === undefined) throw new Error("the example has a failure")
  return {
    ...sample,
    id,
    clauses,
    status: "fail",
    counterexample: { ...sample.counterexample, clause: violatedClause }
  }
}

const groupIds = (checks: ReadonlyArray<CheckResult>) =>
  Wording.byCause(checks).map(([{ id }, prevented]) => [id, prevented.map((check) => check.id)])

describe("Wording.byCause", () => {
  it("groups failures under the failed check of the violated clause, in any order of the failures", () => {
    const all = [
      failedCheck("list", ["b"], "a"),
      failedCheck("create", ["a"]),
      failedCheck("get", ["c"], "a")
    ]
    expect(groupIds(all)).toEqual([["create", ["list", "get"]]])
  })

  it("groups failures under the first failure if the violated clause belongs to no failed check", () => {
    const all = [failedCheck("list", ["b"], "a"), failedCheck("get", ["c"], "a"), failedCheck("other", ["d"])]
    expect(groupIds(all)).toEqual([
      ["list", ["get"]],
      ["other", []]
    ])
  })

  it("keeps failures separate if each check violated its own clause", () => {
    expect(groupIds([failedCheck("one", ["a"]), failedCheck("two", ["a"])])).toEqual([
      ["one", []],
      ["two", []]
    ])
  })
})
