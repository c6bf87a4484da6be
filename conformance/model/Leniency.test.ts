/** What the contract leaves open is no violation, whatever a service does. */
import { describe, expect, it } from "vitest"
import type * as Wire from "../http/Wire.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import {
  creation,
  exchangesOf,
  type Fault,
  judge,
  judgeHistory,
  list,
  onResponses,
  setupOf,
  small,
  times
} from "./History.fixture.ts"

describe("Model.judge", () => {
  it("lets a service require unique names, and reject the second creation only", () => {
    const rejectsFrom = (first: number): Fault => {
      let creations = 0
      const isRejected = (method: string) => method === "POST" && ++creations >= first
      return onResponses(isRejected, Edit.error(400, "name taken"))
    }
    const history = [creation("Rex"), creation("Rex")]
    expect(judgeHistory({ fault: rejectsFrom(2) }, history).violations).toEqual([])
    const { violations } = judgeHistory({ fault: rejectsFrom(1) }, history)
    expect(violations.map(({ clause }) => clause)).toEqual(["create.status-201", "create.status-201"])
  })

  it("expects neither a response to a malformed escape nor a filter by it", () => {
    const lost = (path: string) =>
      exchangesOf({}, [{ method: "HEAD", path }]).map((each) => ({ ...each, response: undefined }))
    expect(judge(setupOf(), lost("/pets/%zz")).violations).toEqual([])
    expect(judge(setupOf(), lost("/pets/9")).violations).toMatchObject([{ clause: "http.responds" }])
    const dropped = (request: Wire.WireRequest) => ({
      ...request,
      target: request.target.replace("?status=%zz", "")
    })
    const history = [creation("Rex"), { path: "/pets?status=%zz" }]
    expect(judgeHistory({ fault: { request: dropped } }, history).violations).toEqual([])
  })

  it("lets a denial that begins a ban tell its end as Reset, but no shorter wait than it tells", () => {
    const begins = (wait: number) => (response: Wire.WireResponse) => {
      const reset = 1_804_150_800 + 120
      return Edit.header(
        "Retry-After",
        String(wait)
      )(Edit.header("X-RateLimit-Reset", String(reset))(response))
    }
    const judged = (wait: number) => {
      const fault = onResponses((_, __, status) => status === 429, begins(wait))
      return judgeHistory({ plan: small, fault }, times(4, list)).violations.map(({ clause }) => clause)
    }
    expect(judged(120)).toEqual([])
    expect(judged(60)).toEqual(["limits.reset-truth"])
  })
})
