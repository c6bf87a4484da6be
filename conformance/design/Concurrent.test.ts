import { describe, expect, it } from "vitest"
import type { Exchange } from "../model/Exchange.ts"
import { creation, exchangesOf, setupOf } from "../model/History.fixture.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import * as Design from "./Design.ts"

describe("Design.judge", () => {
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
      Design.judge(Design.begin(setupOf()), exchanges)
        .violations.map(({ clause }) => clause)
        .filter((clause) => clause === "resources.linearizable")
    // One list shows the first animal only, and the other one only the second.
    expect(clauses(together([first, second, shows(one, 1), shows(other, 2)]))).toEqual([
      "resources.linearizable"
    ])
    expect(clauses(together([first, second, shows(one, 1), shows(other, 1)]))).toEqual([])
  })
})
