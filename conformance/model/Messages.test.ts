import { describe, expect, it } from "vitest"
import * as Wire from "../http/Wire.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import {
  exchangesOf,
  judge,
  judgeHistory,
  list,
  minutes,
  onRemaining,
  onResponses,
  setupOf,
  small,
  smallDay,
  times,
  type World
} from "./History.fixture.ts"

describe("a violation", () => {
  it("finds one cause of a Remaining that is too low", () => {
    const fault = { response: onRemaining((remaining) => Math.max(0, remaining - 1)) }
    const { violations } = judgeHistory({ plan: small, fault }, minutes)
    expect(new Set(violations.map(({ clause }) => clause))).toEqual(new Set(["limits.remaining-bound"]))
  })

  it("finds one cause of a Reset in milliseconds, and asks whether it is one", () => {
    const fault = onResponses(
      () => true,
      (response) =>
        Edit.header("X-RateLimit-Reset", `${Wire.header(response, "X-RateLimit-Reset")}000`)(response)
    )
    const { violations } = judgeHistory({ plan: small, fault }, times(2, list))
    expect(new Set(violations.map(({ clause }) => clause))).toEqual(new Set(["limits.reset-unix-seconds"]))
    expect(violations[0]?.actual).toMatch(/ms\?$/)
  })

  it("says when a removed operation still responds", () => {
    const afterMs = Date.parse("2031-01-01T00:00:00Z") - Date.parse("2027-03-04T09:00:00Z")
    const fault = onResponses((_, target) => target.endsWith("/1"), Edit.replace(200, "[]"))
    const { violations } = judgeHistory({ fault }, [{ path: "/pets/1", afterMs }])
    expect(violations.find(({ clause }) => clause === "get.removed")?.expected).toBe(
      "4xx for getPet at 2031-01-01T00:00:00.000Z, after its removal on 2030-12-05"
    )
  })

  it("tells that a day began anew too early", () => {
    const world: World = { plan: smallDay, choices: { shown: "minute", day: "sliding log" } }
    // Each time a new server, which has forgotten the requests of the earlier one.
    const exchanges = [0, 12, 23].flatMap((hours, server) =>
      exchangesOf(world, [{ ...list, afterMs: hours * 3_600_000 }, ...times(4, list)]).map((exchange) => ({
        ...exchange,
        index: 5 * server + exchange.index
      }))
    )
    // A day may end once within 12 hours, but then not again.
    const { violations } = judge(setupOf(world), exchanges)
    expect(violations[0]).toMatchObject({
      clause: "limits.per-day",
      actual: "the day of 3 requests began anew after 11 h"
    })
    expect(violations[0]?.evidence.map(({ index }) => index)).toEqual(expect.arrayContaining([8, 10]))
  })
})
