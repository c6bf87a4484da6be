import { describe, expect, it } from "vitest"
import type { Exchange } from "../model/Exchange.ts"
import * as History from "../model/History.fixture.ts"
import * as Judges from "./Judges.ts"

const YEAR_MS = 365 * 86_400_000

const plan = { perMinute: 4, perDay: 40 }

/** Lists that a server handled one after the other; all but the last one were in flight together. */
const burst = (size: number): ReadonlyArray<Exchange> =>
  History.exchangesOf({ plan }, Array(size + 1).fill({ path: "/pets?limit=1" })).map((exchange, index) =>
    index < size ? { ...exchange, isAlone: false, until: size } : exchange
  )

const setup = History.setupOf({ plan })

describe("Judges.groups", () => {
  it("groups a burst until nothing is in flight, although the first request gets its response last", () => {
    const [first, second, third, after] = burst(3)
    if (first === undefined || second === undefined || third === undefined || after === undefined)
      throw new Error("there are four exchanges")
    const last = { ...first, isLast: true }
    const inOrderOfArrival = [second, third, last, after]
    expect(Judges.groups(inOrderOfArrival)).toEqual([[second, third, last], [after]])
    expect(Judges.violationsOf(setup, "spec", inOrderOfArrival)).toEqual([])
  })

  it("separates a burst without its last exchange from a later burst", () => {
    const [first, second, third] = burst(3)
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("there are three exchanges")
    const later = { ...third, index: 9, until: 10, from: third.from + YEAR_MS, to: third.to + YEAR_MS }
    expect(Judges.groups([first, second, later])).toEqual([[first, second], [later]])
  })
})
