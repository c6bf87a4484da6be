import { describe, expect, it } from "vitest"
import * as Wire from "../../http/Wire.ts"
import type { Choices } from "./Choices.ts"
import { numberIn, serverOf } from "./Server.fixture.ts"

describe("PlainServer", () => {
  it("counts per key or per account, and ignores requests without a valid key", () => {
    for (const [counted, status] of [
      ["per key", 200],
      ["per account", 429]
    ] as const) {
      const { send } = serverOf({ counted }, { perMinute: 2, perDay: 10 })
      send("GET", "/v1/pets", { key: "wrong" })
      send("GET", "/v1/pets", { key: undefined })
      expect([1, 2].map(() => send("GET", "/v1/pets").status)).toEqual([200, 200])
      expect(send("GET", "/v1/pets").status).toBe(429)
      expect(send("GET", "/v1/pets", { key: "other" }).status).toBe(status)
    }
  })

  it("counts errors and denied requests only if the choices require it", () => {
    const spend = (choices: Partial<Choices>) => {
      const { send } = serverOf(choices, { perMinute: 3, perDay: 10 })
      return [send("GET", "/v1/pets?limit=0"), send("GET", "/v1/pets")].map((response) =>
        numberIn(response, "x-ratelimit-remaining")
      )
    }
    expect(spend({ errorsCost: true })).toEqual([2, 1])
    expect(spend({ errorsCost: false })).toEqual([3, 2])

    const waitAfterDenial = (denialsCost: boolean) => {
      const { send, clock } = serverOf({ minute: "sliding log", denialsCost }, { perMinute: 1, perDay: 10 })
      send("GET", "/v1/pets")
      clock.now += 30_000
      return numberIn(send("GET", "/v1/pets"), "retry-after")
    }
    expect(waitAfterDenial(false)).toBe(30)
    expect(waitAfterDenial(true)).toBe(60)
  })

  it("counts callers without a key, does not count them, or shows zeros, as chosen", () => {
    const statuses = (anonymous: Choices["anonymous"]) => {
      const { send } = serverOf({ anonymous })
      const responses = Array.from({ length: 61 }, () => send("GET", "/v1/pets", { key: undefined }))
      return [
        responses.map(({ status }) => status).slice(-2),
        responses.map((response) => numberIn(response, "x-ratelimit-remaining")).slice(0, 2),
        responses.map((response) => numberIn(response, "x-ratelimit-limit")).at(-1)
      ]
    }
    expect(statuses("counted")).toEqual([[401, 429], [59, 58], 60])
    expect(statuses("not counted")).toEqual([[401, 401], [60, 60], 60])
    expect(statuses("zeros")).toEqual([[401, 401], [0, 0], 0])
  })

  it("sends Retry-After in seconds, with the chosen slack, or as a date", () => {
    const announced = (choices: Partial<Choices>) => {
      const { send } = serverOf(choices, { perMinute: 1, perDay: 10 })
      send("GET", "/v1/pets")
      return Wire.header(send("GET", "/v1/pets"), "retry-after")
    }
    expect(announced({})).toBe("53")
    expect(announced({ slack: 7 })).toBe("60")
    expect(announced({ retryAfter: "date" })).toBe("Thu, 04 Mar 2027 05:07:01 GMT")
  })

  it("does not ban a key if admitted requests interrupt the early retries", () => {
    const { send, clock } = serverOf(
      { ban: { after: 2, seconds: 600, status: 403 } },
      { perMinute: 1, perDay: 100 }
    )
    for (let minute = 0; minute < 5; minute++) {
      expect([1, 2, 3].map(() => send("GET", "/v1/pets").status)).toEqual([200, 429, 429])
      clock.now += 60_000
    }
  })

  it("never bans callers without a valid key", () => {
    const { send } = serverOf({ ban: { after: 1, seconds: 600, status: 403 } })
    const responses = Array.from({ length: 70 }, () => send("GET", "/v1/pets", { key: "wrong" }))
    expect(responses.at(-1)?.status).toBe(429)
    expect(Math.max(...responses.map((response) => Number(Wire.header(response, "retry-after") ?? 0)))).toBe(
      53
    )
  })

  it("bans only the key that ignores Retry-After, for the chosen time", () => {
    for (const status of [403, 429] as const) {
      const { send, clock } = serverOf(
        { ban: { after: 3, seconds: 600, status } },
        { perMinute: 1, perDay: 100 }
      )
      send("GET", "/v1/pets")
      const announced = [1, 2, 3, 4].map(() => numberIn(send("GET", "/v1/pets"), "retry-after"))
      expect(announced).toEqual([53, 53, 53, 600])
      clock.now += 599_999
      expect(send("GET", "/v1/pets").status).toBe(status)
      expect(send("GET", "/v1/pets", { key: "other" }).status).toBe(200)
      clock.now += 1
      expect(send("GET", "/v1/pets").status).toBe(200)
    }
  })
})
