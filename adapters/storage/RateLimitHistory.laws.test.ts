/** Checks that the histories, with which the laws of all stores work, reach every situation. */
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { DAY } from "../../conformance/ports/LimitDraws.ts"
import * as Histories from "./RateLimitHistory.arbitrary.ts"

it("histories of requests cover all outcomes, ways of denial, clock steps and bans", () => {
  const found = new Set<string>()
  const add = (history: ReadonlyArray<Histories.Sent>): void => {
    for (const request of history) for (const feature of Histories.features(request)) found.add(feature)
  }
  for (const [moves, bans] of Histories.offenders) add(Histories.play(20_000 * DAY, moves, bans))
  fc.assert(
    fc.property(Histories.moment, Histories.moves, Histories.bans, (start, moves, bans) =>
      add(Histories.play(start, moves, bans))
    ),
    { numRuns: 200 }
  )
  expect(Histories.allFeatures.filter((feature) => !found.has(feature))).toEqual([])
})
