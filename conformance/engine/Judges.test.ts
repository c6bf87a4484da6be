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

describe("Judges.judge", () => {
  it("judges a burst once nothing is in flight, although the first request gets its response last", () => {
    const [first, second, third, after] = burst(3)
    if (first === undefined || second === undefined || third === undefined || after === undefined)
      throw new Error("there are four exchanges")
    const inOrderOfArrival = [second, third, { ...first, isLast: true }, after]
    expect(Judges.violationsOf(setup, "spec", inOrderOfArrival)).toEqual([])
    let known = Judges.begin(setup, "spec")
    const pending = inOrderOfArrival.map((exchange) => {
      known = Judges.judge(known, exchange).known
      return known.pending.length
    })
    expect(pending).toEqual([1, 2, 0, 0])
  })

  it("judges a burst without its last exchange before a later burst", () => {
    const [first, second, third] = burst(3)
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("there are three exchanges")
    const later = { ...third, index: 9, until: 10, from: third.from + YEAR_MS, to: third.to + YEAR_MS }
    let known = Judges.begin(setup, "spec")
    for (const exchange of [first, second, later]) known = Judges.judge(known, exchange).known
    expect(known.pending).toEqual([later])
  })
})
