import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Deprecation from "./Deprecation.ts"

const { announcedAt, sunsetAt } = Deprecation.getPet

describe("Deprecation.getPet", () => {
  it("is announced on 20 November 2026 and has its sunset on 5 December 2030, 00:00 UTC", () => {
    expect(Deprecation.getPet).toEqual({
      announcedAt: Date.UTC(2026, 10, 20),
      sunsetAt: Date.UTC(2030, 11, 5),
      afterSunset: "gone"
    })
  })
})

describe("Deprecation.phaseAt", () => {
  it.each([
    ["active", "a millisecond before the announcement", announcedAt - 1],
    ["deprecated", "at the announcement", announcedAt],
    ["deprecated", "a millisecond after the announcement", announcedAt + 1],
    ["deprecated", "a millisecond before the sunset", sunsetAt - 1],
    ["removed", "at the sunset", sunsetAt],
    ["removed", "a millisecond after the sunset", sunsetAt + 1]
  ] as const)('returns "%s" %s', (phase, _, now) => {
    expect(Deprecation.phaseAt(Deprecation.getPet, now)).toBe(phase)
    expect(Deprecation.phaseAt({ ...Deprecation.getPet, afterSunset: "not-found" }, now)).toBe(phase)
  })

  it('never returns "removed" if afterSunset is "announce-only"', () => {
    const policy = { ...Deprecation.getPet, afterSunset: "announce-only" } as const
    expect(
      [announcedAt - 1, announcedAt, sunsetAt - 1, sunsetAt, sunsetAt + 1].map((now) =>
        Deprecation.phaseAt(policy, now)
      )
    ).toEqual(["active", "deprecated", "deprecated", "deprecated", "deprecated"])
  })

  it("returns the phases in order as time passes, for any dates", () => {
    const order = ["active", "deprecated", "removed"]
    const moment = fc.integer({ min: 0, max: 4_000_000_000_000 })
    fc.assert(
      fc.property(
        fc.tuple(moment, moment),
        fc.constantFrom("gone", "not-found", "announce-only" as const),
        fc.array(moment, { minLength: 2 }),
        ([a, b], afterSunset, moments) => {
          const policy = { announcedAt: Math.min(a, b), sunsetAt: Math.max(a, b), afterSunset }
          const phases = moments
            .toSorted((left, right) => left - right)
            .map((now) => order.indexOf(Deprecation.phaseAt(policy, now)))
          expect(phases).toEqual(phases.toSorted())
        }
      )
    )
  })
})

describe("Deprecation.headers", () => {
  it("returns Deprecation, Sunset and Link", () => {
    expect(Deprecation.headers(Deprecation.getPet, "/v1/pets")).toEqual([
      ["Deprecation", "@1795132800"],
      ["Sunset", "Thu, 05 Dec 2030 00:00:00 GMT"],
      ["Link", '</v1/pets>; rel="successor-version"']
    ])
  })

  it("also links to the page about the deprecation if its URL is given", () => {
    expect(
      Deprecation.headers(Deprecation.getPet, "/v1/pets", "https://docs.example/#getPet").at(-1)
    ).toEqual([
      "Link",
      '</v1/pets>; rel="successor-version", <https://docs.example/#getPet>; rel="deprecation"'
    ])
  })
})
