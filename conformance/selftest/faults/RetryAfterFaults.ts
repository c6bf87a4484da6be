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
  fault("limits.no-retry-after", "Omits Retry-After from denials.")
    .breaks("limits.retry-after-present", "every.retry-after", "Retry-After is missing")
    .by(AtHttp.responses({ status: 429 }, Edit.without(RETRY_AFTER))),
  fault("limits.retry-after-fraction", "Sends Retry-After with a fraction.")
    .breaks("limits.retry-after-present", "every.retry-after", "whole seconds or a date")
    .by(changesRetryAfter((seconds) => `${seconds}.5`)),
  fault("limits.retry-after-with-unit", "Sends Retry-After with a unit.")
    .breaks("limits.retry-after-present", "every.retry-after", "whole seconds or a date")
    .by(changesRetryAfter((seconds) => `${seconds}s`)),
  fault("limits.retry-after-zero", "Sends a Retry-After of 0 seconds.")
    .breaks("limits.retry-after-promise", "limits.promise", "429 after waiting the 0 s of Retry-After")
    .by(changesRetryAfter(() => 0)),
  fault("limits.retry-after-past-date", "Sends a date in the past as Retry-After.")
    .breaks("limits.retry-after-promise", "limits.promise", "429 after waiting the 0 s of Retry-After")
    .by(changesRetryAfter((_seconds, { now }) => new Date(now() - 60_000).toUTCString())),
  fault("limits.retry-after-half", "Sends half of the wait as Retry-After.")
    .breaks("limits.retry-after-promise", "limits.promise", "429 after waiting the 6 s of Retry-After")
    .by(changesRetryAfter((seconds) => Math.ceil(seconds / 2))),
  fault("limits.retry-after-epoch", "Sends the Unix time of the retry as Retry-After instead of the wait.")
    .breaks("limits.retry-after-promise", "limits.first-wait", "at most a day 1796807056 s")
    .by(changesRetryAfter((seconds, { now }) => Math.ceil(now() / 1000) + seconds)),
  fault("limits.retry-after-ms", "Sends Retry-After in milliseconds.")
    .breaks("limits.retry-after-exact", "bucket.retry-after", "12 s 12000 s")
    .by(changesRetryAfter((seconds) => `${seconds}000`)),
  fault("limits.retry-after-too-long", "Sends a Retry-After of at least a minute.")
    .breaks("limits.retry-after-exact", "bucket.retry-after", "12 s 60 s")
    .by(changesRetryAfter((seconds) => Math.max(seconds, 60))),
  fault("limits.retry-after-floor", "Rounds Retry-After down to whole seconds.")
    .breaks("limits.retry-after-promise", "bucket.shortest-wait", "429, Retry-After 1 s")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        if (verdict.outcome === "admitted" || verdict.limit === policy.plan.perDay) return [verdict, next]
        return [{ ...verdict, retryAfter: Math.max(Math.floor(waitMs(next, now, policy) / 1000), 1) }, next]
      })
    ),
  fault("limits.retry-after-date", "Sends Retry-After as a date instead of seconds.")
    .breaks("limits.retry-after-seconds", "every.retry-after-seconds", "Retry-After: Tue, 01 Dec 2026")
    .by(
      changesRetryAfter((seconds, { now }) =>
        new Date(Math.ceil(now() / 1000 + seconds) * 1000).toUTCString()
      )
    ),
  fault("limits.retry-after-always", "Sends Retry-After with every response.")
    .breaks("limits.retry-after-seconds", "every.retry-after-seconds", "no Retry-After with 200 0")
    .by(AtHttp.responses({ status: 200 }, Edit.header(RETRY_AFTER, "0")))
]
