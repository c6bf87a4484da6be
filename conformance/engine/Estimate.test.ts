import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Subjects from "../selftest/Subjects.ts"
import type { Report } from "./Report.ts"
import * as Run from "./Run.ts"

/** Maximum number of requests of a run; a run may send 6,000 by default. */
const maxRequests = { spec: 3_400, design: 5_000 } as const

describe("the estimate of the doctor", () => {
  it.each(["spec", "design"] as const)(
    "is the number of requests of a run at level %s, with an error of less than a tenth",
    async (level) => {
      const report: Report = await Effect.runPromise(
        Subjects.withSubject(Subjects.reference, 1, (opened) => Run.run(opened, { level, seed: 1 }))
      )
      const { counts, findings, requests } = report
      const line = findings.find((finding) => / checks at level /.test(finding)) ?? ""
      const [, checks, estimated] = /^(\d+) checks at level \w+, about (\d+) requests/.exec(line) ?? []
      expect(Number(checks)).toBe(counts.planned)
      expect(requests).toBeLessThan(maxRequests[level])
      expect(Number(estimated)).toBeGreaterThan(requests * 0.9)
      expect(Number(estimated)).toBeLessThan(requests * 1.1)
    },
    60_000
  )
})
