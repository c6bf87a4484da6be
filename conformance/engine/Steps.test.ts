import { describe, expect, it } from "vitest"
import * as Moment from "../http/Moment.ts"
import { bytes } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Steps from "./Steps.ts"

const exchange = (index: number, at: number, changes: Partial<Exchange> = {}): Exchange => ({
  index,
  did: "GET /pets?limit=1 (tiny key)",
  request: {
    method: "GET",
    target: "/v1/pets?limit=1",
    headers: [["Authorization", "Bearer tiny-secret"]],
    body: undefined
  },
  response: {
    status: 200,
    headers: [
      ["X-RateLimit-Limit", "5"],
      ["X-RateLimit-Remaining", String(9 - index)],
      ["X-RateLimit-Reset", "60"]
    ],
    body: bytes("[]")
  },
  from: at,
  to: at,
  isAlone: true,
  ...changes
})

const subject = {
  secrets: { main: "main-secret", tiny: "tiny-secret" },
  target: {
    name: "server",
    transport: () => {
      throw new Error("nothing is sent")
    },
    basePath: "/v1",
    baseUrl: "http://127.0.0.1:3000/v1",
    keys: { main: "main-secret" }
  }
}

const curl = `curl -i -H "Authorization: Bearer $TINY" 'http://127.0.0.1:3000/v1/pets?limit=1'`

describe("Steps.of", () => {
  it("shows the time between steps, what the responses tell of limits, and a command for each request", () => {
    expect(Steps.of([exchange(0, 1_000), exchange(1, 1_600)], subject, true)).toEqual([
      { did: "GET /pets?limit=1 (tiny key)", got: "200, 9 of 5 left, Reset in 59 s []", curl },
      { did: "0.6 s pass", got: "" },
      { did: "GET /pets?limit=1 (tiny key)", got: "200, 8 of 5 left, Reset in 58.4 s []", curl }
    ])
  })

  it("shows only the first and the last of many equal steps", () => {
    const all = Array.from({ length: 9 }, (_, index) => exchange(index, 1_000))
    expect(Steps.of(all, subject, false)).toEqual([
      { did: "GET /pets?limit=1 (tiny key)", got: "200 []", curl },
      { did: "the same 7 more times", got: "", curl: `for i in $(seq 7); do ${curl}; done` },
      { did: "GET /pets?limit=1 (tiny key)", got: "200 []", curl }
    ])
  })

  it("shows why there is no response", () => {
    const lost = exchange(0, 0, { response: undefined, missing: "socket hang up" })
    expect(Steps.of([lost], subject, true)[0]?.got).toBe("no response: socket hang up")
  })
})

describe("Moment.duration", () => {
  it("is exact to the millisecond below a minute, and in the largest units above", () => {
    expect([1, 600, 59_999, 60_000, 125_000, 43_200_000, 90_000_007].map(Moment.duration)).toEqual([
      "0.001 s",
      "0.6 s",
      "59.999 s",
      "1 min",
      "2 min 5 s",
      "12 h",
      "1 day 1 h 0.007 s"
    ])
  })
})
