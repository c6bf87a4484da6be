import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { WireResponse } from "../http/Wire.ts"
import * as Subjects from "../selftest/Subjects.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import * as Cases from "./Cases.ts"

const outcomesOf = (
  options: Cases.CasesOptions,
  change: (response: WireResponse) => WireResponse = (response) => response
) => {
  const subject = Subjects.ofFault("a server", {
    at: "plain",
    transport: (real) => (request) => Effect.map(real(request), change)
  })
  return Effect.runPromise(
    Subjects.withSubject(subject, 1, (opened) =>
      Effect.promise(async () => {
        const outcomes = new Map<string, string | undefined>()
        for (const { name, run, skip } of Cases.cases(opened, { seed: 1, ...options })) {
          const id = name.split(":")[0] ?? ""
          outcomes.set(id, skip ?? (await run().then(() => "passed", String)))
        }
        return outcomes
      })
    )
  )
}

describe("Cases.cases", () => {
  it("returns a case for the run and one for each check, which pass on a correct server", async () => {
    const outcomes = await outcomesOf({ only: ["auth.*"], allowInconclusive: true })
    expect(outcomes.get("the suite runs")).toBe("passed")
    expect(outcomes.get("auth.required")).toBe("passed")
    expect(outcomes.get("list.array")).toBe("not selected for this run")
    expect([...outcomes.values()].filter((outcome) => /Error/.test(outcome ?? ""))).toEqual([])
  })

  it("rejects the case of a violated clause with its smallest history, and no other", async () => {
    const outcomes = await outcomesOf({ only: ["auth.*"], allowInconclusive: true }, (response) =>
      response.status === 401 ? Edit.status(403)(response) : response
    )
    const failed = [...outcomes].filter(([, outcome]) => outcome?.startsWith("ConformanceError"))
    expect(failed.map(([id]) => id)).toContain("auth.every-operation")
    expect(failed[0]?.[1]).toMatch(/\n1\. GET .*\nexpected .*401.*\nactual .*403/)
  })

  it("throws if a pattern matches nothing", () => {
    const subject = PortSubject.make({ name: "ports" })
    expect(() => Cases.cases(subject, { only: ["no.such"] })).toThrow(/names no check or profile/)
    expect(() => Cases.cases(subject, { only: ["auth.*"] })).toThrow(/none of the selected checks/)
  })
})
