/** Laws about a request after others, each with a server that keeps it and one that breaks it. */
import { describe, expect, it } from "vitest"
import * as Edit from "../selftest/spoilers/Edit.ts"
import {
  creation,
  judgeHistory,
  list,
  onResponses,
  posted,
  type Sent,
  small,
  times
} from "./History.fixture.ts"

const clausesOf = (...given: Parameters<typeof judgeHistory>) =>
  judgeHistory(...given).violations.map(({ clause }) => clause)

describe("Model.judge", () => {
  it.each<[string, ReadonlyArray<Sent>]>([
    ["a name like an earlier one", [creation("Rex \u00e9"), creation("Tom \u00e9")]],
    ["a category of an earlier animal", [7, 7].map((id) => posted(`{"name":"Rex","categoryId":${id}}`))]
  ])("rejects a service that accepts %s only once", (_, [first, second]) => {
    const history = [first ?? list, { ...(second ?? list), body: second?.body?.replace("Rex", "Tom") ?? "" }]
    const rejectsFrom = (ordinal: number) => {
      let creations = 0
      return onResponses((method) => method === "POST" && ++creations >= ordinal, Edit.error(400, "invalid"))
    }
    expect(clausesOf({ fault: rejectsFrom(2) }, history)).toEqual(["create.status-201"])
    expect(clausesOf({ fault: rejectsFrom(1) }, history)).toEqual([])
    expect(clausesOf({}, history)).toEqual([])
  })

  it("rejects a HEAD that denies a valid key, but not one that is not supported", () => {
    const history = [{ method: "HEAD" }]
    const responds = (status: number) => onResponses(() => true, Edit.error(status, "none"))
    expect(clausesOf({ fault: responds(401) }, history)).toEqual(["auth.bearer"])
    expect(clausesOf({ fault: responds(405) }, history)).toEqual([])
  })

  it("rejects a wait of hours for a limit of a minute, but not for one of a day", () => {
    const waits = onResponses((_, __, status) => status === 429, Edit.header("Retry-After", "12000"))
    // Days later, it is known that the day has requests left.
    const history = [list, { ...list, afterMs: 3 * 86_400_000 }, ...times(3, list)]
    expect(clausesOf({ plan: small, fault: waits }, history)).toEqual(["limits.no-early-429"])
    const day = { perMinute: 100, perDay: 3 }
    expect(clausesOf({ plan: day }, times(4, list))).toEqual([])
  })

  it("rejects a Reset hours ago for a caller without a key", () => {
    const past = onResponses(() => true, Edit.header("X-RateLimit-Reset", "1804140000"))
    expect(clausesOf({ fault: past }, [{ authorization: null }])).toEqual(["limits.reset-unix-seconds"])
  })
})
