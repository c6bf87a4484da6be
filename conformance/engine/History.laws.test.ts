import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { rate, wireResponse } from "../http/Wires.fixture.ts"
import type { Exchange, Violation } from "../model/Exchange.ts"
import * as History from "./History.ts"

const exchangeOf = (index: number): Exchange => ({
  index,
  did: `GET /pets?limit=${index}`,
  request: { method: "GET", target: `/v1/pets?limit=${index}`, headers: [], body: undefined },
  response: undefined,
  from: index,
  to: index,
  isAlone: true
})

const LIMIT = 5

/** Adds rate headers: the limit is refilled after every fifth request. */
const withRemaining = (exchange: Exchange, at: number): Exchange => ({
  ...exchange,
  response: wireResponse(200, rate(LIMIT, LIMIT - 1 - (at % LIMIT), 60), "[]")
})

const keyOf = ({ index }: Exchange) => (index % 3 === 0 ? "tiny" : "main")

const indexesOf = (exchanges: ReadonlyArray<Exchange>) => exchanges.map(({ index }) => index)

const run = fc.integer({ min: 1, max: 300 }).chain((length) =>
  fc.record({
    length: fc.constant(length),
    needed: fc.uniqueArray(fc.nat({ max: length - 1 }), { minLength: 1, maxLength: 4 })
  })
)

describe("History.smallest", () => {
  it("returns exactly the exchanges that a violation needs, if its evidence is among them", () => {
    fc.assert(
      fc.property(run, fc.nat({ max: 3 }), ({ length, needed }, shown) => {
        const all = Array.from({ length }, (_, index) => exchangeOf(index))
        const history = needed.toSorted((a, b) => a - b)
        const evidence = history.slice(-1 - shown).map(exchangeOf)
        const violation: Violation = { clause: "list.faithful", expected: "a", actual: "b", evidence }
        const judgeAll = (some: ReadonlyArray<Exchange>) =>
          history.every((index) => some.some((exchange) => exchange.index === index)) ? [violation] : []
        expect(indexesOf(History.smallest(violation, all, judgeAll, keyOf).exchanges)).toEqual(history)
      })
    )
  })

  it("keeps every request of the key since the last time its limits were full, if the law counts requests", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 12, max: 40 }), (needed, length) => {
        const ofKey = Array.from({ length }, (_, at) => withRemaining(exchangeOf(3 * at), at))
        const others = Array.from({ length }, (_, at) => exchangeOf(3 * at + 1))
        const evidence = ofKey.slice(-1)
        const clause = "limits.per-minute"
        const violation: Violation = { clause, expected: "429", actual: "200", evidence }
        const judgeAll = (some: ReadonlyArray<Exchange>) =>
          some.filter((exchange) => keyOf(exchange) === "tiny").length >= needed ? [violation] : []
        const all = [...ofKey, ...others].toSorted((a, b) => a.index - b.index)
        const { exchanges } = History.smallest(violation, all, judgeAll, keyOf)
        const begin = needed === 1 ? length - 1 : Math.floor((length - needed) / LIMIT) * LIMIT
        expect(indexesOf(exchanges)).toEqual(indexesOf(ofKey.slice(begin)))
      })
    )
  })

  it("tries nothing more once it is late", () => {
    const all = Array.from({ length: 20 }, (_, index) => exchangeOf(index))
    const violation: Violation = {
      clause: "list.faithful",
      expected: "a",
      actual: "b",
      evidence: all.slice(-1)
    }
    let judged = 0
    const judgeAll = () => {
      judged++
      return []
    }
    const { exchanges } = History.smallest(violation, all, judgeAll, keyOf, () => judged > 2)
    expect(indexesOf(exchanges)).toEqual([19])
    expect(judged).toBe(3)
  })

  it("returns the evidence if no part of the run shows the violation", () => {
    const evidence = [exchangeOf(2), exchangeOf(7)]
    const violation: Violation = { clause: "list.faithful", expected: "a", actual: "b", evidence }
    const all = Array.from({ length: 20 }, (_, index) => exchangeOf(index))
    expect(History.smallest(violation, all, () => [], keyOf)).toEqual({ violation, exchanges: evidence })
  })
})
