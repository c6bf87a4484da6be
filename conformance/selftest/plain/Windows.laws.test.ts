import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Algorithm, Choices } from "./Choices.ts"
import { numberIn, plenty, serverOf } from "./Server.fixture.ts"

describe("a window", () => {
  const lengths = { minute: 60_000, day: 86_400_000 }
  const zone = 330

  /** For each algorithm, whether its definition admits one more request at `now`, after the times `admitted`. */
  const admissible: Record<
    Algorithm,
    (admitted: ReadonlyArray<number>, now: number, limit: number, length: number, zoneMs: number) => boolean
  > = {
    "token bucket": (admitted, now, limit, length) =>
      admitted.every(
        (from, index) => (admitted.length - index + 1) * length <= limit * length + (now - from) * limit
      ),
    "clock window": (admitted, now, limit, length, zoneMs) => {
      const windowAt = (time: number) => Math.floor((time + zoneMs) / length)
      return admitted.filter((time) => windowAt(time) === windowAt(now)).length < limit
    },
    "window from first use": (admitted, now, limit, length) => {
      const first = admitted.reduce(
        (start, time) => (time < start + length ? start : time),
        Number.NEGATIVE_INFINITY
      )
      return now >= first + length || admitted.filter((time) => time >= first).length < limit
    },
    "sliding log": (admitted, now, limit, length) =>
      admitted.filter((time) => time > now - length).length < limit
  }

  const algorithms = ["clock window", "window from first use", "sliding log"] as const
  const cases = fc.constantFrom(
    ...algorithms.map((algorithm) => ({ window: "day" as const, algorithm })),
    ...algorithms.map((algorithm) => ({ window: "minute" as const, algorithm })),
    { window: "minute" as const, algorithm: "token bucket" as const }
  )
  /** Generates pauses as a fraction of the window plus an offset in ms; many end exactly when a request is admitted. */
  const gap = fc.oneof(
    { weight: 3, arbitrary: fc.constant([0, 0] as const) },
    fc.tuple(fc.constantFrom(1 / 7, 1 / 6, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1, 3), fc.constantFrom(0, -1, 1)),
    fc.tuple(fc.double({ min: 0, max: 0.4, noNaN: true }), fc.constant(0))
  )

  it("admits exactly the requests that its algorithm allows, and shows the number of requests left", () => {
    fc.assert(
      fc.property(
        cases,
        fc.integer({ min: 1, max: 7 }),
        fc.array(gap, { maxLength: 40 }),
        ({ algorithm, window }, limit, gaps) => {
          const length = lengths[window]
          const plan = window === "minute" ? { ...plenty, perMinute: limit } : { ...plenty, perDay: limit }
          const choices = { minute: "sliding log", [window]: algorithm, dayZone: zone } as const
          const { send, clock } = serverOf(choices, plan)
          const zoneMs = window === "day" ? zone * 60_000 : 0
          const admitted: Array<number> = []
          const isAdmissibleAt = (now: number) => admissible[algorithm](admitted, now, limit, length, zoneMs)
          for (const [share, offset] of gaps) {
            clock.now += Math.max(0, Math.floor(share * length) + offset)
            const isAdmitted = isAdmissibleAt(clock.now)
            const response = send("GET", "/v1/pets")
            expect(response.status).toBe(isAdmitted ? 200 : 429)
            if (isAdmitted) {
              admitted.push(clock.now)
              const additional: Array<number> = []
              while (admissible[algorithm]([...admitted, ...additional], clock.now, limit, length, zoneMs)) {
                additional.push(clock.now)
              }
              expect(numberIn(response, "x-ratelimit-remaining")).toBe(additional.length)
            } else {
              expect(numberIn(response, "x-ratelimit-remaining")).toBe(0)
              const seconds = numberIn(response, "retry-after")
              expect(isAdmissibleAt(clock.now + seconds * 1000)).toBe(true)
              expect(seconds === 1 || !isAdmissibleAt(clock.now + (seconds - 1) * 1000)).toBe(true)
            }
            expect(numberIn(response, "x-ratelimit-limit")).toBe(limit)
          }
        }
      ),
      { numRuns: 500 }
    )
  })

  it("refills a token bucket with a precision of one millisecond", () => {
    const { send, clock } = serverOf({ minute: "token bucket" }, { perMinute: 7, perDay: 100 })
    for (let n = 0; n < 7; n++) send("GET", "/v1/pets")
    clock.now += 8571
    expect(send("GET", "/v1/pets").status).toBe(429)
    clock.now += 1
    expect(send("GET", "/v1/pets").status).toBe(200)
  })

  it("shows the limit, the remaining requests and the reset of the chosen window", () => {
    const shown = (choices: Partial<Choices>, plan = { perMinute: 4, perDay: 100 }) => {
      const { send, clock } = serverOf(choices, plan)
      clock.now = 60_000_000
      const response = send("GET", "/v1/pets")
      return [
        numberIn(response, "x-ratelimit-limit"),
        numberIn(response, "x-ratelimit-remaining"),
        numberIn(response, "x-ratelimit-reset") - 60_000
      ]
    }
    expect(shown({})).toEqual([4, 3, 60])
    expect(shown({}, { perMinute: 4, perDay: 2 })).toEqual([2, 1, 26_400])
    expect(shown({ shown: "minute" }, { perMinute: 4, perDay: 2 })).toEqual([4, 3, 60])
    expect(shown({ shown: "day" })).toEqual([100, 99, 26_400])
    expect(shown({ shown: "day", dayZone: 60 })).toEqual([100, 99, 22_800])
    expect(shown({ minute: "token bucket" })).toEqual([4, 3, 60])
    expect(shown({ minute: "token bucket", reset: "all left again" })).toEqual([4, 3, 15])
    expect(shown({ minute: "token bucket", reset: "one more left" })).toEqual([4, 3, 15])
    const second = (reset: Choices["reset"], minute: Algorithm) => {
      const { send, clock } = serverOf({ minute, reset }, { perMinute: 4, perDay: 100 })
      clock.now = 0
      send("GET", "/v1/pets")
      clock.now = 10_000
      return numberIn(send("GET", "/v1/pets"), "x-ratelimit-reset")
    }
    expect(second("window end", "token bucket")).toBe(70)
    expect(second("all left again", "token bucket")).toBe(30)
    expect(second("one more left", "token bucket")).toBe(15)
    expect(second("window end", "sliding log")).toBe(70)
    expect(second("all left again", "sliding log")).toBe(70)
    expect(second("one more left", "sliding log")).toBe(60)
    expect(second("all left again", "window from first use")).toBe(60)

    const { send, clock } = serverOf({ minute: "window from first use", errorsCost: false })
    clock.now = 0
    send("GET", "/v1/pets?limit=0")
    clock.now = 30_000
    expect(numberIn(send("GET", "/v1/pets", { key: "key" }), "x-ratelimit-reset")).toBe(90)
  })
})
