import { describe, expect, it } from "vitest"
import * as Edit from "../selftest/spoilers/Edit.ts"
import type { Exchange } from "./Exchange.ts"
import { creation, exchangesOf, judge, list, setupOf } from "./History.fixture.ts"

describe("Model.judge", () => {
  it("judges whether requests in flight at the same time took effect one after the other", () => {
    const all = { path: "/pets?limit=100" }
    const [first, second, one, other] = exchangesOf({}, [creation("Rex"), creation("Tom"), all, all])
    const shows = (exchange: Exchange | undefined, id: number): Exchange => {
      if (exchange?.response === undefined) throw new Error("there is no response")
      const animals = Edit.animalsOf(exchange.response)?.filter((animal) => animal.id === BigInt(id))
      return { ...exchange, response: Edit.body(Edit.write(animals))(exchange.response) }
    }
    const together = (exchanges: ReadonlyArray<Exchange | undefined>) =>
      exchanges.flatMap((each) => (each === undefined ? [] : [{ ...each, isAlone: false, until: 4 }]))
    const clauses = (exchanges: ReadonlyArray<Exchange>) =>
      judge(setupOf(), exchanges).violations.map(({ clause }) => clause)
    // One list shows the first animal only, and the other one only the second.
    expect(clauses(together([first, second, shows(one, 1), shows(other, 2)]))).toEqual([
      "resources.linearizable"
    ])
    expect(clauses(together([first, second, shows(one, 1), shows(other, 1)]))).toEqual([])
  })

  it("judges requests in flight at the same time in any order", () => {
    const exchanges = exchangesOf({}, [creation("Rex"), list]).map((exchange) => ({
      ...exchange,
      isAlone: false
    }))
    expect(judge(setupOf(), exchanges.toReversed()).violations).toEqual([])
  })
})
