/** Counts the requests of one caller exactly, by the step of the service, where the time of each request is known. */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"

export interface Meter {
  readonly plan: Plan
  /** Whether the caller is a key, which can be banned. */
  readonly isKey: boolean
  readonly state: RateLimit.State
}

export const make = (plan: Plan, isKey: boolean, now: number): Meter => ({
  plan,
  isKey,
  state: RateLimit.initial(now, plan)
})

/** What became of a denied request: a slot, a strike, or neither because the latest strike is too recent. */
export type Denial = "slot" | "strike" | "too soon" | "began ban" | "during ban"

/** What a response must show. */
export interface Verdict extends RateLimit.Verdict {
  /** `undefined` if the request is admitted. */
  readonly denial: Denial | undefined
}

/** Counts a request at `now` (epoch ms). */
export const step = (meter: Meter, now: number): readonly [Verdict, Meter] => {
  const { isKey, plan, state } = meter
  const [verdict, next] = RateLimit.step(state, now, { plan, ban: isKey ? BanPolicy.standard : undefined })
  return [
    { ...verdict, denial: denialOf(meter, verdict, next, now) },
    { ...meter, state: next }
  ]
}

const denialOf = (
  { plan, state }: Meter,
  { outcome }: RateLimit.Verdict,
  next: RateLimit.State,
  now: number
): Denial | undefined => {
  if (outcome === "admitted") return undefined
  if (outcome === "banned") return next === state ? "during ban" : "began ban"
  if (next.strikeAt === now && state.strikeAt !== now) return "strike"
  // With no time between strikes, every denied request without a slot would be one.
  const ban = { ...BanPolicy.standard, strikeIntervalMs: 0 }
  return RateLimit.step(state, now, { plan, ban })[1].strikeAt === now ? "too soon" : "slot"
}
