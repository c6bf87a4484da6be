/** Computes how much of its limits a caller has used at a given time, from its stored state. */
import type { BanPolicy } from "./BanPolicy.ts"
import * as DailyQuota from "./DailyQuota.ts"
import type { Plan } from "./Plan.ts"
import * as RateLimit from "./RateLimit.ts"
import * as TokenBucket from "./TokenBucket.ts"

/** Both windows, the strikes and the ban of a caller. Times are in epoch milliseconds. */
export interface Usage {
  readonly minute: {
    readonly limit: number
    /** Number of requests that the bucket admits immediately. */
    readonly remaining: number
    /** Time at which the bucket is full, if no further request arrives. */
    readonly fullAt: number
  }
  readonly day: {
    readonly limit: number
    /** Number of requests admitted on this UTC day; it can exceed `limit` if the limit was lowered. */
    readonly used: number
    readonly remaining: number
    /** The midnight (UTC) that ends the day. */
    readonly endsAt: number
  }
  /** Number of strikes that still count toward a ban. */
  readonly strikes: number
  /** End of the current ban; `undefined` if the caller is not banned. */
  readonly bannedUntil: number | undefined
}

/** Returns the usage at `now`; `state` is `undefined` for a caller without a stored state. */
export const at = (
  state: RateLimit.State | undefined,
  now: number,
  { perDay, perMinute }: Plan,
  ban: BanPolicy
): Usage => {
  const plan = { perDay, perMinute }
  const stored = state === undefined ? RateLimit.initial(now, plan) : RateLimit.withinLead(state, now)
  const level = TokenBucket.levelAt(stored, now, perMinute)
  const day = DailyQuota.dayAt(stored.day, now)
  const used = day === stored.day ? stored.used : 0
  return {
    minute: {
      limit: perMinute,
      remaining: TokenBucket.remaining(level),
      fullAt: TokenBucket.reaches(level, Math.max(stored.at, now), TokenBucket.capacity(perMinute), perMinute)
    },
    day: { limit: perDay, used, remaining: Math.max(perDay - used, 0), endsAt: DailyQuota.endOf(day) },
    strikes: now - stored.strikesFrom < ban.withinMs ? stored.strikes : 0,
    bannedUntil: now < stored.bannedUntil ? stored.bannedUntil : undefined
  }
}
