import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"
import * as Plan from "./Plan.ts"
import { DAY, HOUR, MINUTE, SECOND } from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"

/** The time of a UTC midnight, in epoch milliseconds. */
const midnight = 20_500 * DAY

/** Creates a caller that sends requests; `RateLimit.step` decides on them in sequence. */
const createCaller = (
  plan: Plan.Plan,
  { ban }: { readonly ban: BanPolicy.BanPolicy | undefined } = { ban: BanPolicy.standard }
) => {
  let state: RateLimit.State | undefined
  return {
    send: (now: number, changed: Plan.Plan = plan): RateLimit.Verdict => {
      const [verdict, after] = RateLimit.step(state, now, { plan: changed, ban })
      state = after
      return verdict
    },
    get state(): RateLimit.State {
      if (state === undefined) throw new Error("the caller has sent no request")
      return state
    }
  }
}

const outcomes = (verdicts: ReadonlyArray<RateLimit.Verdict>) => verdicts.map(({ outcome }) => outcome)

describe("the minute window", () => {
  it("has all its requests left for a new caller, and Remaining excludes the current request", () => {
    const { send } = createCaller(Plan.standard.Free)
    expect(send(midnight)).toEqual({
      outcome: "admitted",
      limit: 60,
      remaining: 59,
      resetAt: midnight / SECOND + 1,
      retryAfter: 0,
      minute: { limit: 60, remaining: 59, moreIn: 1 },
      day: { limit: 1000, remaining: 999, moreIn: DAY / SECOND }
    })
  })

  it("counts down by one per request, and denies requests on an empty bucket until the next token", () => {
    const { send } = createCaller(Plan.standard.Free)
    const burst = Array.from({ length: 61 }, () => send(midnight + 1))
    expect(burst.map(({ remaining }) => remaining)).toEqual([
      ...Array.from({ length: 60 }, (_, n) => 59 - n),
      0
    ])
    expect(burst.at(-1)).toEqual({
      outcome: "limited",
      limit: 60,
      remaining: 0,
      resetAt: midnight / SECOND + 61,
      retryAfter: 1,
      minute: { limit: 60, remaining: 0, moreIn: 1 },
      day: { limit: 1000, remaining: 940, moreIn: DAY / SECOND }
    })
    expect(send(midnight + 1_000).outcome).toBe("limited")
    expect(send(midnight + 1_001).outcome).toBe("admitted")
  })

  it("admits 119 requests in the first minute, at a limit of 60, if a client sends one every millisecond", () => {
    const { send } = createCaller(Plan.standard.Free, { ban: undefined })
    const minute = Array.from({ length: MINUTE }, (_, ms) => send(midnight + ms))
    expect(minute.filter(({ outcome }) => outcome === "admitted")).toHaveLength(119)
  })
})

describe("the day window", () => {
  const plan = { perMinute: 60, perDay: 3 }

  it("is shown in the headers if it has fewer requests left than the minute, and resets at midnight UTC", () => {
    const { send } = createCaller({ perMinute: 60, perDay: 30 })
    expect(send(midnight + HOUR)).toEqual({
      outcome: "admitted",
      limit: 30,
      remaining: 29,
      resetAt: (midnight + DAY) / SECOND,
      retryAfter: 0,
      minute: { limit: 60, remaining: 59, moreIn: 1 },
      day: { limit: 30, remaining: 29, moreIn: (23 * HOUR) / SECOND }
    })
  })

  it("is shown in the headers if both windows have the same number of requests left and the day resets later", () => {
    const { send } = createCaller({ perMinute: 5, perDay: 5 })
    expect(send(midnight)).toMatchObject({ limit: 5, remaining: 4, resetAt: (midnight + DAY) / SECOND })
  })

  it("is not shown in the headers if both windows have the same number of requests left and midnight comes first", () => {
    const { send } = createCaller({ perMinute: 5, perDay: 5 })
    expect(send(midnight - 2 * SECOND)).toMatchObject({ remaining: 4, resetAt: midnight / SECOND + 10 })
  })

  it("ends exactly at midnight UTC", () => {
    const { send } = createCaller(plan)
    const beforeMidnight = midnight - 1
    expect(
      outcomes([send(beforeMidnight), send(beforeMidnight), send(beforeMidnight), send(beforeMidnight)])
    ).toEqual(["admitted", "admitted", "admitted", "limited"])
    expect(send(beforeMidnight)).toEqual({
      outcome: "limited",
      limit: 3,
      remaining: 0,
      resetAt: midnight / SECOND,
      retryAfter: 1,
      minute: { limit: 60, remaining: 57, moreIn: 1 },
      day: { limit: 3, remaining: 0, moreIn: 1 }
    })
    expect(send(midnight)).toMatchObject({ outcome: "admitted", limit: 3, remaining: 2 })
  })

  it("is not reset by a clock that steps back over midnight by at most a minute", () => {
    const { send } = createCaller(plan)
    send(midnight - 2)
    expect(send(midnight)).toMatchObject({ remaining: 2, resetAt: (midnight + DAY) / SECOND })
    expect(send(midnight - 1)).toMatchObject({ remaining: 1, resetAt: (midnight + DAY) / SECOND })
    expect(send(midnight - MINUTE)).toMatchObject({ remaining: 0, resetAt: (midnight + DAY) / SECOND })
    expect(send(midnight - MINUTE)).toMatchObject({
      outcome: "limited",
      retryAfter: (DAY + MINUTE) / SECOND
    })
    expect(send(midnight + 1)).toMatchObject({ outcome: "limited", retryAfter: DAY / SECOND })
    expect(send(midnight + DAY)).toMatchObject({ outcome: "admitted", remaining: 2 })
  })

  it("determines Retry-After if both windows are exhausted and the next token comes before midnight", () => {
    const { send } = createCaller({ perMinute: 2, perDay: 2 })
    send(midnight + HOUR)
    send(midnight + HOUR)
    expect(send(midnight + HOUR)).toEqual({
      outcome: "limited",
      limit: 2,
      remaining: 0,
      resetAt: (midnight + DAY) / SECOND,
      retryAfter: (23 * HOUR) / SECOND,
      minute: { limit: 2, remaining: 0, moreIn: 30 },
      day: { limit: 2, remaining: 0, moreIn: (23 * HOUR) / SECOND }
    })
  })

  it("does not determine Retry-After if midnight comes before the next token", () => {
    const { send } = createCaller({ perMinute: 1, perDay: 1 })
    send(midnight - 10 * SECOND)
    expect(send(midnight - 10 * SECOND)).toEqual({
      outcome: "limited",
      limit: 1,
      remaining: 0,
      resetAt: midnight / SECOND + 50,
      retryAfter: 60,
      minute: { limit: 1, remaining: 0, moreIn: 60 },
      day: { limit: 1, remaining: 0, moreIn: 10 }
    })
    expect(send(midnight).outcome).toBe("limited")
    expect(send(midnight + 50 * SECOND).outcome).toBe("admitted")
  })
})

describe("retry slots", () => {
  it("are distinct for each denied request, one token apart", () => {
    const { send } = createCaller({ perMinute: 6, perDay: 1_000 })
    const burst = Array.from({ length: 10 }, () => send(midnight))
    expect(burst.map(({ retryAfter }) => retryAfter)).toEqual([0, 0, 0, 0, 0, 0, 10, 20, 30, 40])
  })

  it("are limited to one full bucket: further denied requests get the last slot", () => {
    const { send } = createCaller({ perMinute: 3, perDay: 1_000 }, { ban: undefined })
    const burst = Array.from({ length: 8 }, () => send(midnight))
    expect(burst.map(({ retryAfter }) => retryAfter)).toEqual([0, 0, 0, 20, 40, 60, 60, 60])
  })

  it("are due at midnight, or at the next tokens after midnight, if the day is exhausted", () => {
    const { send } = createCaller({ perMinute: 60, perDay: 60 })
    for (let count = 0; count < 60; count++) send(midnight - 2 * SECOND)
    const denied = Array.from({ length: 4 }, () => send(midnight - 2 * SECOND))
    expect(denied.map(({ retryAfter }) => retryAfter)).toEqual([2, 2, 3, 4])
  })

  it("do not extend Retry-After after the limit is lowered", () => {
    const { send } = createCaller(Plan.standard.Business)
    for (let count = 0; count < 1_500; count++) send(midnight)
    expect(send(midnight, { perMinute: 2, perDay: 100_000 }).retryAfter).toBe(60)
  })
})

describe("strikes and bans", () => {
  /** One request per day: every request after the first is denied until midnight. */
  const plan = { perMinute: 60, perDay: 1 }

  /** Returns a key with one admitted and one denied request at `start`. */
  const createDeniedKey = (start: number) => {
    const key = createCaller(plan)
    key.send(start)
    key.send(start)
    return key
  }

  /** Sends requests at `now` until one causes a strike or is banned, and returns its verdict. */
  const causeStrike = (key: ReturnType<typeof createCaller>, now: number): RateLimit.Verdict => {
    for (;;) {
      const verdict = key.send(now)
      if (key.state.strikeAt === now || verdict.outcome === "banned") return verdict
    }
  }

  /** Causes `count` strikes, one per second; the first strike is one second after `start`. */
  const causeStrikes = (key: ReturnType<typeof createCaller>, start: number, count: number) =>
    Array.from({ length: count }, (_, index) => causeStrike(key, start + (index + 1) * SECOND))

  it("a denied request with a free slot is not a strike", () => {
    const key = createDeniedKey(midnight)
    expect(key.state).toMatchObject({ strikes: 0, debt: 1 })
    // 60 slots for a full bucket, and one for each of the 59 tokens that are left in it.
    while (key.state.debt < 119) key.send(midnight)
    expect(key.state.strikes).toBe(0)
    key.send(midnight)
    expect(key.state).toMatchObject({ strikes: 1, debt: 119 })
  })

  it("a denied request without a free slot is a strike", () => {
    const key = createCaller({ perMinute: 2, perDay: 100 })
    for (let count = 0; count < 4; count++) key.send(midnight)
    expect(key.state).toMatchObject({ strikes: 0, debt: 2 })
    expect(key.send(midnight)).toMatchObject({ outcome: "limited", retryAfter: 60 })
    expect(key.state).toMatchObject({ strikes: 1, debt: 2 })
    // The request of the first slot is admitted; the next request gets the slot that becomes free.
    expect(key.send(midnight + 30 * SECOND).outcome).toBe("admitted")
    expect(key.send(midnight + 30 * SECOND)).toMatchObject({ outcome: "limited", retryAfter: 60 })
    expect(key.state).toMatchObject({ strikes: 1, debt: 2 })
  })

  it("19 strikes cause no ban", () => {
    const key = createDeniedKey(midnight)
    expect(new Set(outcomes(causeStrikes(key, midnight, 19)))).toEqual(new Set(["limited"]))
    expect(key.state).toMatchObject({ strikes: 19, bannedUntil: 0 })
  })

  it("the request that causes the 20th strike is denied with the outcome banned", () => {
    const key = createDeniedKey(midnight)
    const now = midnight + 20 * SECOND
    expect(causeStrikes(key, midnight, 20).at(-1)).toEqual({
      outcome: "banned",
      limit: 60,
      remaining: 0,
      resetAt: (now + MINUTE) / SECOND,
      // The day is exhausted until after the end of the ban.
      retryAfter: (midnight + DAY - now) / SECOND,
      minute: { limit: 60, remaining: 0, moreIn: (midnight + DAY - now) / SECOND },
      day: { limit: 1, remaining: 0, moreIn: (midnight + DAY - now) / SECOND },
      beganBan: true
    })
    expect(key.state.bannedUntil).toBe(now + MINUTE)
  })

  it("Retry-After lasts until the end of the ban if the windows allow requests earlier", () => {
    const key = createCaller({ perMinute: 1, perDay: 100 }, { ban: { ...BanPolicy.standard, strikes: 2 } })
    for (const ms of [0, 0, SECOND, 2 * SECOND]) key.send(midnight + ms)
    expect(key.state.bannedUntil).toBe(midnight + 2 * SECOND + MINUTE)
    expect(key.send(midnight + 2_001)).toMatchObject({
      outcome: "banned",
      limit: 1,
      remaining: 0,
      resetAt: midnight / SECOND + 62,
      retryAfter: 60
    })
    expect(key.send(midnight + 2 * SECOND + MINUTE - 1)).toMatchObject({ outcome: "banned", retryAfter: 1 })
    expect(key.send(midnight + 2 * SECOND + MINUTE).outcome).toBe("admitted")
  })

  it("20 strikes over 5 minutes or more cause no ban", () => {
    const key = createDeniedKey(midnight)
    causeStrikes(key, midnight, 19)
    const firstStrikeAt = midnight + SECOND
    causeStrike(key, firstStrikeAt + 5 * MINUTE)
    expect(key.state).toMatchObject({ strikes: 1, strikesFrom: firstStrikeAt + 5 * MINUTE, bannedUntil: 0 })
    const quick = createDeniedKey(midnight)
    causeStrikes(quick, midnight, 19)
    expect(causeStrike(quick, firstStrikeAt + 5 * MINUTE - 1).outcome).toBe("banned")
  })

  it("the bans of a key that never waits last 1, 5, 15, 60 and 60 minutes", () => {
    const key = createDeniedKey(midnight)
    let now = midnight
    const minutes = Array.from({ length: 6 }, () => {
      causeStrikes(key, now, 20)
      const durationMs = key.state.bannedUntil - (now + 20 * SECOND)
      now = key.state.bannedUntil
      return durationMs / MINUTE
    })
    expect(minutes).toEqual([1, 5, 15, 60, 60, 60])
  })

  it("the next ban is one step shorter for each clean day since the end of the last ban", () => {
    const banMinutesAfter = (pauseMs: number): number => {
      const key = createDeniedKey(midnight)
      causeStrikes(key, midnight, 20)
      causeStrikes(key, key.state.bannedUntil, 20)
      const end = key.state.bannedUntil
      // After the pause, the plan's only request of the day is admitted, and the next one is denied.
      key.send(end + pauseMs)
      key.send(end + pauseMs)
      causeStrikes(key, end + pauseMs, 20)
      return (key.state.bannedUntil - (end + pauseMs + 20 * SECOND)) / MINUTE
    }
    // The first new strike occurs one second after the pause.
    expect(banMinutesAfter(DAY - 2 * SECOND)).toBe(15)
    expect(banMinutesAfter(DAY - SECOND)).toBe(5)
    expect(banMinutesAfter(2 * DAY - 2 * SECOND)).toBe(5)
    expect(banMinutesAfter(2 * DAY - SECOND)).toBe(1)
    expect(banMinutesAfter(30 * DAY)).toBe(1)
  })
})

describe("RateLimit.spentAt, after which a state may be deleted,", () => {
  it("is exact: a millisecond earlier, the requests of the day and of the minute still count", () => {
    const key = createCaller({ perMinute: 1, perDay: 1 })
    key.send(midnight)
    expect(key.send(midnight + DAY - 1).outcome).toBe("limited")
    const lateKey = createCaller({ perMinute: 1, perDay: 100 })
    lateKey.send(midnight - 1)
    expect(lateKey.send(midnight - 1 + MINUTE - 1).outcome).toBe("limited")
  })

  /** Returns the state after one admitted request and `requests` denied ones, all at midnight. */
  const deniedAtMidnight = (ban: BanPolicy.BanPolicy, requests: number): RateLimit.State => {
    const key = createCaller({ perMinute: 1, perDay: 1 }, { ban })
    for (let count = 0; count <= requests; count++) key.send(midnight)
    return key.state
  }

  /** Number of slots on an exhausted day under the plan of `deniedAtMidnight`. */
  const slots = 8

  it("is later than the end of the ban by one clean day per ban level", () => {
    const ban = { ...BanPolicy.standard, strikes: 1 }
    const state = deniedAtMidnight(ban, slots + 1)
    expect(state).toMatchObject({ banLevel: 1, bannedUntil: midnight + MINUTE })
    expect(RateLimit.spentAt(state, ban)).toBe(midnight + MINUTE + DAY)
  })

  it("is not before the end of a ban that is longer than the maximum Retry-After", () => {
    const ban = { ...BanPolicy.standard, strikes: 1, durationsMs: [400 * DAY] } as const
    const policy = { plan: { perMinute: 1, perDay: 1 }, ban }
    const state = deniedAtMidnight(ban, slots + 1)
    const [verdict] = RateLimit.step(state, midnight + 3, policy)
    expect(verdict).toMatchObject({ outcome: "banned", retryAfter: RateLimit.maxRetryAfter })
    expect(RateLimit.step(state, midnight + 400 * DAY - 1, policy)[0].outcome).toBe("banned")
    expect(RateLimit.spentAt(state, ban)).toBe(midnight + 400 * DAY)
    expect(RateLimit.step(state, midnight + 400 * DAY, policy)[0].outcome).toBe("admitted")
  })

  it("is not before the end of the strike window", () => {
    const ban = { ...BanPolicy.standard, withinMs: 3 * DAY }
    const state = deniedAtMidnight(ban, slots + 1)
    expect(state.strikes).toBe(1)
    expect(RateLimit.spentAt(state, ban)).toBe(midnight + 3 * DAY)
  })

  it("is not before the end of the strike interval", () => {
    const ban = {
      ...BanPolicy.standard,
      strikes: 1,
      strikeIntervalMs: 3 * DAY,
      durationsMs: [MINUTE]
    } as const
    const state = deniedAtMidnight(ban, slots + 1)
    expect(RateLimit.spentAt(state, ban)).toBe(midnight + 3 * DAY)
  })
})
