import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Times from "./Times.ts"

const now = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2030, 0) })

const partsOf = (ms: number): ReadonlyArray<number> => {
  const date = new Date(ms)
  return [
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds()
  ]
}

describe("Times.times", () => {
  it.each(Object.entries(Times.times))("returns no moment in the past for '%s'", (_name, { next }) => {
    fc.assert(
      fc.property(now, (ms) => {
        expect(next(ms)).toBeGreaterThanOrEqual(ms)
      })
    )
  })

  it("returns 00:00 UTC on the right day for the start of a year, the start of a month and 29 February", () => {
    fc.assert(
      fc.property(now, (ms) => {
        expect(partsOf(Times.times["at the start of a year"].next(ms))).toEqual([0, 1, 0, 0, 0])
        expect(partsOf(Times.times["at the start of a month"].next(ms)).slice(1)).toEqual([1, 0, 0, 0])
        expect(partsOf(Times.times["on 29 February"].next(ms))).toEqual([1, 29, 0, 0, 0])
      })
    )
  })

  it("returns a moment less than a second before the end of a minute, day, month or year", () => {
    fc.assert(
      fc.property(now, (ms) => {
        for (const [before, boundary] of [
          ["before the end of a minute", "at the start of a minute"],
          ["before midnight", "at midnight"],
          ["before the end of a month", "at the start of a month"],
          ["before the end of a year", "at the start of a year"]
        ] as const) {
          const moment = Times.times[before].next(ms)
          expect(Times.times[boundary].next(moment) - moment).toBeLessThan(1_000)
        }
      })
    )
  })
})
