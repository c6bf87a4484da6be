import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Estimate from "../engine/Estimate.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"

describe("the estimate of the doctor", () => {
  it.each(["spec", "design"] as const)("is what a run sends at level %s, to a tenth", async (level) => {
    for (const seed of [1, 2, 3]) {
      let estimated: ReadonlyArray<string> = []
      const subject = Effect.tap(Subjects.reference, (opened) =>
        Effect.sync(() => {
          // Safe: the reference is a server.
          estimated = Estimate.lines(opened as HttpSubject, { level }, 1)
        })
      )
      const { counts, requests } = await Effect.runPromise(SelfTest.examine(subject, { level, seed }))
      const [, checks, about] =
        /^(\d+) checks at level \w+, about (\d+) requests/.exec(estimated[0] ?? "") ?? []
      // Two checks of level design find out in the run that a clock of a server only moves forward.
      const later = level === "spec" ? 0 : 2
      expect(Number(checks)).toBe(counts.planned - counts["not-applicable"] + later)
      expect(Number(about)).toBeGreaterThan(requests * 0.9)
      expect(Number(about)).toBeLessThan(requests * 1.1)
    }
  })
})
