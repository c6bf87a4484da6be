/** Defines faults in `Retry-After`. */
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../../core/limits/TokenBucket.ts"
import { header } from "../../http/Wire.ts"
import { type Fault, fault, type Where, type World } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"

const RETRY_AFTER = "Retry-After"

/** Changes the `Retry-After` of denials. */
const changesRetryAfter = (change: (seconds: number, world: World) => string | number): Where =>
  AtHttp.responses({ status: 429 }, (response, _request, world) =>
    Edit.header(RETRY_AFTER, String(change(Number(header(response, RETRY_AFTER)), world)))(response)
  )

/** Returns the milliseconds until the bucket of a denied caller has a token. */
const waitMs = ({ at, level }: RateLimit.State, now: number, { plan }: RateLimit.Policy): number =>
  TokenBucket.reaches(level, at, TokenBucket.COST, plan.perMinute) - now

export const faults: ReadonlyArray<Fault> = [
  fault("limits.retry-after-past-date", "Sends a date in the past as Retry-After.")
    .breaks("limits.retry-after-promise")
    .by(changesRetryAfter((_seconds, { now }) => new Date(now() - 60_000).toUTCString())),
  fault("limits.retry-after-floor", "Rounds Retry-After down to whole seconds.")
    .breaks("limits.retry-after-promise")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        if (verdict.outcome === "admitted" || verdict.limit === policy.plan.perDay) return [verdict, next]
        return [{ ...verdict, retryAfter: Math.max(Math.floor(waitMs(next, now, policy) / 1000), 1) }, next]
      })
    )
]
