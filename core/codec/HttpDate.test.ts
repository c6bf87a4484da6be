import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as HttpDate from "./HttpDate.ts"

describe("HttpDate.format", () => {
  it.each([
    [Date.UTC(1994, 10, 6, 8, 49, 37), "Sun, 06 Nov 1994 08:49:37 GMT"],
    [Date.UTC(2030, 11, 5), "Thu, 05 Dec 2030 00:00:00 GMT"],
    [Date.UTC(2030, 11, 5) - 1, "Wed, 04 Dec 2030 23:59:59 GMT"],
    [Date.UTC(2028, 1, 29, 12), "Tue, 29 Feb 2028 12:00:00 GMT"],
    [0, "Thu, 01 Jan 1970 00:00:00 GMT"]
  ])("formats %d as %s", (epochMs, text) => {
    expect(HttpDate.format(epochMs)).toBe(text)
  })

  it("returns an IMF-fixdate that is rounded down to the second", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }), (epochMs) => {
        const text = HttpDate.format(epochMs)
        expect(text).toMatch(
          /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/
        )
        expect(Date.parse(text)).toBe(Math.floor(epochMs / 1000) * 1000)
      })
    )
  })
})

describe("HttpDate.perSecond", () => {
  it("returns a function that formats times in any order like `format`", () => {
    const aroundSeconds = fc
      .tuple(fc.integer({ min: 1_000, max: 1_004 }), fc.constantFrom(-1, 0, 1))
      .map(([second, ms]) => second * 1_000 + ms)
    fc.assert(
      fc.property(fc.array(aroundSeconds), (moments) => {
        const date = HttpDate.perSecond()
        expect(moments.map(date)).toEqual(moments.map(HttpDate.format))
      })
    )
  })
})
