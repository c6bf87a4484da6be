/** Makes servers that count requests by another rule, or show wrong numbers. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../../core/limits/TokenBucket.ts"
import type { RateLimitStore } from "../../../core/ports/RateLimitStore.ts"
import type { WireRequest, WireResponse } from "../../http/Wire.ts"
import type { Spoil, Where } from "../Fault.ts"
import * as AtHttp from "./AtHttp.ts"

/** A rule that decides one request. */
export type Step = (
  state: RateLimit.State | undefined,
  now: number,
  policy: RateLimit.Policy
) => readonly [RateLimit.Verdict, RateLimit.State]

/** Selects callers by their rate-limit key: callers with a valid API key, callers without one, or all. */
type Whose = "key:" | "network:" | ""

/** Applies another rule to the requests of the selected callers; by default, those with an API key. */
const deciding =
  (step: Step, whose: Whose = "key:"): Spoil<RateLimitStore["Service"]> =>
  (real) => ({
    modify: real.modify,
    consume: (key, now, policy) => {
      const isSelected = key.startsWith(whose)
      return real.modify(key, (state) => (isSelected ? step : RateLimit.step)(state, now, policy))
    }
  })

export const decides = (step: Step, whose?: Whose): Where => AtHttp.limits(deciding(step, whose))

const windowOf = (limit: number, left: number, untilMs: number): RateLimit.Window => ({
  limit,
  remaining: Math.max(Math.min(left, limit), 0),
  moreIn: Math.ceil(untilMs / 1000)
})

/**
 * Counts requests in windows that follow the clock: `level` is the number of requests in the minute, `used` the number
 * in the day. The day admits `extra` requests more than the plan.
 */
export const windows =
  (minuteMs: number, dayMs: number, extra = 0): Step =>
  (state, now, { plan: { perDay, perMinute } }) => {
    const minute = Math.floor(now / minuteMs)
    const day = Math.floor(now / dayMs)
    const level = state !== undefined && Math.floor(state.at / minuteMs) === minute ? state.level : 0
    const used = state?.day === day ? state.used : 0
    const dayLeft = perDay + extra - used
    const minuteLeft = perMinute - level
    const isOfDay = dayLeft < minuteLeft || dayLeft === 0
    const end = isOfDay ? (day + 1) * dayMs : (minute + 1) * minuteMs
    const left = isOfDay ? dayLeft : minuteLeft
    const isAdmitted = left > 0
    const cost = isAdmitted ? 1 : 0
    const limit = isOfDay ? perDay : perMinute
    const verdict: RateLimit.Verdict = {
      outcome: isAdmitted ? "admitted" : "limited",
      limit,
      remaining: Math.min(left - cost, limit),
      resetAt: Math.ceil(end / 1000),
      retryAfter: isAdmitted ? 0 : Math.ceil((end - now) / 1000),
      minute: windowOf(perMinute, minuteLeft - cost, (minute + 1) * minuteMs - now),
      day: windowOf(perDay, dayLeft - cost, (day + 1) * dayMs - now)
    }
    const before = state ?? RateLimit.initial(now, { perDay, perMinute })
    return [verdict, { ...before, at: now, level: level + cost, day, used: used + cost }]
  }

/** Decides requests by another rule if `isSelected`; the state is shared, so runs must not overlap. */
const decidingSome = (isSelected: (request: WireRequest) => boolean, step: Step): Where => {
  let isCurrent = false
  return {
    at: "http",
    transport: (real) => (request) =>
      Effect.suspend(() => {
        isCurrent = isSelected(request)
        return real(request)
      }),
    limits: deciding((...given) => (isCurrent ? step : RateLimit.step)(...given))
  }
}

/** The windows in which a fault does not count or limit requests. */
export type Windows = "minute" | "day" | "both"

/** Returns a state before a request was counted in these windows. */
const giveBack = (state: RateLimit.State, windows: Windows): RateLimit.State => ({
  ...state,
  level: state.level + (windows === "day" ? 0 : TokenBucket.COST),
  used: state.used - (windows === "minute" ? 0 : 1)
})

/** Does not count some admitted requests, and shows the numbers before them; denies others as before. */
export const withoutCost = (isFree: (request: WireRequest) => boolean, windows: Windows = "both"): Where =>
  decidingSome(isFree, (state, now, policy) => {
    const [verdict, next] = RateLimit.step(state, now, policy)
    if (verdict.outcome !== "admitted") return [verdict, next]
    const isShown = windows === "both" || (windows === "day") === (verdict.limit === policy.plan.perDay)
    return [{ ...verdict, remaining: verdict.remaining + (isShown ? 1 : 0) }, giveBack(next, windows)]
  })

/** Admits some requests, without counting them, when these windows are used up. */
export const withoutLimit = (isFree: (request: WireRequest) => boolean, windows: Windows = "both"): Where =>
  decidingSome(isFree, (state, now, policy) => {
    const [verdict, next] = RateLimit.step(state, now, policy)
    const { day, minute } = verdict
    const isByOther =
      (windows === "minute" && day.remaining === 0) || (windows === "day" && minute.remaining === 0)
    if (verdict.outcome === "banned" || (verdict.outcome === "limited" && isByOther)) return [verdict, next]
    if (windows !== "both" && verdict.outcome === "admitted") return [verdict, next]
    return [{ ...verdict, outcome: "admitted", retryAfter: 0 }, state ?? RateLimit.initial(now, policy.plan)]
  })

/** Gives back what a request cost if its response is one of these; the state is shared, so runs must not overlap. */
export const refunding = (
  isRefunded: (response: WireResponse, request: WireRequest) => boolean,
  windows: Windows = "both"
): Where => {
  let refund: Effect.Effect<unknown, unknown> = Effect.void
  return {
    at: "http",
    transport: (real) => (request) => {
      refund = Effect.void
      return Effect.tap(real(request), (response) =>
        isRefunded(response, request) ? Effect.ignore(refund) : Effect.void
      )
    },
    limits: (real) => ({
      modify: real.modify,
      consume: (key, now, policy) =>
        real.modify(key, (state) => {
          const [verdict, next] = RateLimit.step(state, now, policy)
          if (verdict.outcome === "admitted" && key.startsWith("key:")) {
            refund = real.modify(key, (current = next) => [undefined, giveBack(current, windows)])
          }
          return [verdict, next]
        })
    })
  }
}
