import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Estimate from "../engine/Estimate.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"

/** Maximum number of requests of a run; a run may send 5,000 by default. */
const maxRequests = { spec: 3_000, design: 5_000 } as const

describe("Estimate.lines", () => {
  it.each(["spec", "design"] as const)(
    "estimates the requests of a run at level %s with an error of less than a tenth",
    async (level) => {
      let estimated: ReadonlyArray<string> = []
      const subject = Effect.tap(Subjects.reference, (opened) =>
        Effect.sync(() => {
          // Safe: the subject of the reference is an `HttpSubject`.
          estimated = Estimate.lines(opened as HttpSubject, { level }, 1)
        })
      )
      const { counts, requests } = await Effect.runPromise(SelfTest.examine(subject, { level, seed: 1 }))
      const [, checks, estimatedRequests] =
        /^(\d+) checks at level \w+, about (\d+) requests/.exec(estimated[0] ?? "") ?? []
      // At level design, the run finds two more checks not applicable, because a server's clock cannot go back.
      const foundLater = level === "spec" ? 0 : 2
      expect(Number(checks)).toBe(counts.planned - counts["not-applicable"] + foundLater)
      expect(requests).toBeLessThan(maxRequests[level])
      expect(Number(estimatedRequests)).toBeGreaterThan(requests * 0.9)
      expect(Number(estimatedRequests)).toBeLessThan(requests * 1.1)
    }
  )
})
