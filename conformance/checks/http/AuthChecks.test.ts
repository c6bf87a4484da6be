import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Run from "../../engine/Run.ts"
import * as PlainServer from "../../selftest/plain/PlainServer.ts"
import * as HttpSubject from "../../subjects/HttpSubject.ts"

const largePlan = { perMinute: 100_000, perDay: 1_000_000 }

/** Runs the authentication checks against a correct server with this main key; returns the ids of failed checks. */
const failedChecks = (secret: string): Promise<ReadonlyArray<string>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const now = 1_800_000_000_000
      const subject = yield* HttpSubject.make({
        name: "plain",
        transport: PlainServer.make({
          keys: [{ secret, ...largePlan }],
          now: () => now,
          choices: { anonymous: "not counted" }
        }),
        basePath: "/v1",
        baseUrl: undefined,
        keys: { main: secret }
      })
      const { checks } = yield* Run.run(subject, { level: "spec", seed: 1, only: ["auth.*"] })
      return checks.filter(({ status }) => status === "fail" || status === "error").map(({ id }) => id)
    })
  )

describe("authentication checks", () => {
  it("pass for a correct server with any main key, even a palindrome", async () => {
    for (const secret of ["abcdefghhgfedcba", "aaaaaaaaaaaaaaaa", "12321", "a-b-c-b-a", "racecar-racecar"]) {
      expect([secret, await failedChecks(secret)]).toEqual([secret, []])
    }
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom(..."abAB019-_."), minLength: 8, maxLength: 24 }),
        fc.boolean(),
        async (half, isPalindrome) => {
          const secret = isPalindrome ? half + [...half].toReversed().join("") : half
          expect(await failedChecks(secret)).toEqual([])
        }
      ),
      { numRuns: 20 }
    )
  })
})
