import { describe, expect, it } from "vitest"
import * as Edit from "../selftest/spoilers/Edit.ts"
import type { Exchange } from "./Exchange.ts"
import { creation, exchangesOf, judge, list, setupOf, small, times } from "./History.fixture.ts"

describe("Model.judge", () => {
  it("accepts 401 for a valid key in a burst only if another request was denied", () => {
    const burst = exchangesOf({ plan: small }, times(4, list)).map((each) => ({ ...each, isAlone: false }))
    const [first, ...others] = burst
    if (first?.response === undefined) throw new Error("there is no response")
    const unauthorized = { ...first, response: Edit.error(401, "invalid_api_key")(first.response) }
    const clauses = (exchanges: ReadonlyArray<Exchange>) =>
      judge(setupOf({ plan: small }), exchanges).violations.map(({ clause }) => clause)
    expect(clauses([unauthorized, ...others.slice(0, 2)])).toEqual(["auth.bearer"])
    expect(clauses([unauthorized, ...others])).toEqual([])
  })

  it("judges requests in flight at the same time in any order", () => {
    const exchanges = exchangesOf({}, [creation("Rex"), list]).map((exchange) => ({
      ...exchange,
      isAlone: false
    }))
    expect(judge(setupOf(), exchanges.toReversed()).violations).toEqual([])
  })
})
