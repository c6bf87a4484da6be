import { describe, expect, it } from "vitest"
import * as Wire from "../http/Wire.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import {
  creation,
  exchangesOf,
  judge,
  judgeHistory,
  list,
  minutes,
  onRemaining,
  onResponses,
  posted,
  setupOf,
  small,
  smallDay,
  times,
  type World
} from "./History.fixture.ts"
import * as Model from "./Model.ts"

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

  it.each<[number, string, string]>([
    [60, "at most 1 min ahead, because 3 is the limit per minute", "2 min ahead"],
    [-120, "in the future", "1 min ago"],
    [-30, "when the minute has requests again, by the responses before", "30 s ahead"]
  ])("says what is wrong with a Reset that is %i s later than the right one", (by, expected, actual) => {
    const choices = { minute: "clock window", shown: "minute" } as const
    const fault = onResponses(
      (_, __, status) => status === 429,
      (response) =>
        Edit.header(
          "X-RateLimit-Reset",
          String(Number(Wire.header(response, "X-RateLimit-Reset")) + by)
        )(response)
    )
    const { violations } = judgeHistory({ plan: small, choices, fault }, times(4, list))
    const wrong = violations.find(({ clause }) => clause === "limits.reset-truth")
    expect(wrong).toMatchObject({ expected: `X-RateLimit-Reset ${expected}`, actual })
  })

  it("names both animals with one id, also of creations that were sent together", () => {
    const sameId = onResponses(
      (method) => method === "POST",
      Edit.rewritten((body) => body.replace(/"id":\d+/, '"id":1'))
    )
    const exchanges = exchangesOf({ fault: sameId }, [creation("Rex"), creation("Tom")])
    const together = exchanges.map((each) => ({ ...each, isAlone: false }))
    const about = {
      expected: "an id of its own for each animal",
      actual: 'animal 1 ("Rex", available) and animal 1 ("Tom", available)'
    }
    const uniqueId = { clause: "resources.id-unique", ...about }
    expect(judge(setupOf(), exchanges).violations).toMatchObject([uniqueId])
    expect(judge(setupOf(), together).violations).toMatchObject([
      uniqueId,
      { clause: "create.concurrent", ...about }
    ])
  })

  it("says which window has no requests left when a Retry-After is too short, and shows equal durations as seconds", () => {
    const short = onResponses((_, __, status) => status === 429, Edit.header("Retry-After", "10"))
    const waits = { ...list, afterMs: 10_000 }
    const messages = (world: World, history: Parameters<typeof judgeHistory>[1]) =>
      judgeHistory({ ...world, fault: short }, history).violations.map(({ expected }) => expected)
    const day = { plan: smallDay, choices: { shown: "day" } } as const
    expect(messages(day, times(4, list))[0]).toMatch(
      /^a Retry-After of .* or more, when the day has requests again$/
    )
    expect(messages({ plan: small }, [...times(4, list), waits])).toContain(
      "a request admitted 10 s after a Retry-After of 10 s"
    )
  })

  it("names a rate header that is no number, with its value", () => {
    const fault = { response: Edit.header("X-RateLimit-Remaining", "4.0") }
    expect(judgeHistory({ fault }, [list]).violations).toMatchObject([
      { clause: "limits.header-types", expected: "X-RateLimit-Remaining in digits", actual: '"4.0"' }
    ])
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

describe("Model.tells", () => {
  it("tells the first value of what the contract leaves open", () => {
    const history = [0, -5].map((category) => posted(`{"name":"Rex","categoryId":${category}}`))
    const rejecting = onResponses(() => true, Edit.error(400, "invalid"))
    expect(Model.tells(judgeHistory({ fault: rejecting }, history).known)).toContain(
      "2 of 2 creations undecided: the server rejects a category that need not exist: 0, … (2)"
    )
  })

  it("tells that a status changes without a request for it", () => {
    const [created, before] = exchangesOf({}, [creation("Rex"), list])
    if (created === undefined || before?.response === undefined) throw new Error("there is no response")
    const response = Edit.rewritten((body) => body.replace("available", "sold"))(before.response)
    const { known } = judge(setupOf(), [created, before, { ...before, index: 2, response }])
    expect(Model.tells(known)[0]).toBe(
      "the status of animal 1 changes without a request for it: available in response 2, sold in response 3"
    )
  })
})
