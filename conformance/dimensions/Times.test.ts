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

describe("the next moment", () => {
  it.each(Object.entries(Times.times))("is never in the past: %s", (_name, { next }) => {
    fc.assert(
      fc.property(now, (ms) => {
        expect(next(ms)).toBeGreaterThanOrEqual(ms)
      })
    )
  })

  it("is at 00:00 UTC: on 1 January for a year, on the first day for a month, on 29 February for a leap day", () => {
    fc.assert(
      fc.property(now, (ms) => {
        expect(partsOf(Times.times["at the start of a year"].next(ms))).toEqual([0, 1, 0, 0, 0])
        expect(partsOf(Times.times["at the start of a month"].next(ms)).slice(1)).toEqual([1, 0, 0, 0])
        expect(partsOf(Times.times["on 29 February"].next(ms))).toEqual([1, 29, 0, 0, 0])
      })
    )
  })

  it("is less than a second before the next period, if it is before the end of a period", () => {
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
