import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { examineBriefly } from "../SelfTest.ts"
import * as Subjects from "../Subjects.ts"
import { outsiders } from "./Outsiders.ts"

describe("an outsider", () => {
  it.each(outsiders)(
    "is rejected at level spec, unless it may use a gap in the contract: $id",
    async ({ gap, id, where }) => {
      const run = examineBriefly(Subjects.ofFault({ id, where }), {
        level: "spec",
        seed: 1,
        endsAt: ({ status }) => status === "fail"
      })
      const results = await Effect.runPromise(run)
      expect(results.some(({ status }) => status === "fail")).toBe(gap === undefined)
    }
  )

  it("has a unique id", () => {
    expect(new Set(outsiders.map(({ id }) => id)).size).toBe(outsiders.length)
  })
})
