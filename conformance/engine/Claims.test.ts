import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { profiles } from "../evaluation/Profile.ts"
import * as Claims from "./Claims.ts"
import type { Status } from "./Report.ts"

const status = fc.constantFrom<Status>(
  "pass",
  "warn",
  "not-applicable",
  "inconclusive",
  "fail",
  "excluded",
  "error"
)
const check = fc.record({
  profile: fc.constantFrom(...profiles),
  status,
  isPostponed: fc.constantFrom(true, false, undefined)
})

describe("Claims.of", () => {
  it("returns each profile in which a check passed and no check blocks the claim, whatever the other profiles", () => {
    fc.assert(
      fc.property(fc.array(check), (checks) => {
        const claims = Claims.of(checks)
        for (const profile of profiles) {
          const checksOfProfile = checks.filter((candidate) => candidate.profile === profile)
          expect(Claims.of(checksOfProfile).includes(profile)).toBe(claims.includes(profile))
          const statuses = new Set<Status>(checksOfProfile.map((result) => result.status))
          const isUnblocked =
            (["inconclusive", "fail", "excluded", "error"] as const).every(
              (blocking) => !statuses.has(blocking)
            ) && !checksOfProfile.some(({ isPostponed }) => isPostponed === true)
          expect(claims.includes(profile)).toBe(isUnblocked && statuses.has("pass"))
        }
      })
    )
  })
})
