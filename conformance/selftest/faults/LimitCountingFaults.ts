/** Defines faults in the counting of requests. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../../core/limits/TokenBucket.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

export const faults: ReadonlyArray<Fault> = [
  fault(
    "limits.not-atomic",
    "Reads a state, yields, and writes the next, so that concurrent requests are counted as one."
  )
    .breaks("limits.atomic")
    .by(
      AtHttp.limits((real) => ({
        modify: real.modify,
        consume: Effect.fnUntraced(function* (key, now, policy) {
          const read = yield* real.modify(key, (state = RateLimit.initial(now, policy.plan)) => [
            state,
            state
          ])
          yield* Effect.yieldNow
          const [verdict, next] = RateLimit.step(read, now, policy)
          return yield* real.modify(key, () => [verdict, next])
        })
      }))
    ),
  fault("limits.never-refills", "Never refills the bucket.")
    .breaks("limits.retry-after-promise")
    .by(RateLimits.decides((state, now, policy) => RateLimit.step(state, state?.at ?? now, policy))),
  fault("limits.refills-half", "Refills at most half of the bucket.")
    .breaks("limits.no-early-429")
    .by(
      RateLimits.decides((state, now, policy) => {
        const maxLevel = (TokenBucket.capacity(policy.plan.perMinute) >> 1) + TokenBucket.COST
        const level = state && TokenBucket.levelAt(state, now, policy.plan.perMinute)
        return RateLimit.step(
          state && { ...state, at: now, level: Math.min(level ?? 0, maxLevel) },
          now,
          policy
        )
      })
    ),
  fault("limits.refills-each-time", "Starts a new window with each request.")
    .breaks("limits.per-minute")
    .by(RateLimits.decides((_state, now, policy) => RateLimit.step(undefined, now, policy))),
  fault("limits.grows-when-idle", "Refills beyond the plan during idle time.")
    .breaks("limits.per-minute")
    .by(
      RateLimits.decides((state, now, policy) => {
        const { perMinute } = policy.plan
        const level = state === undefined ? 0 : state.level + (now - state.at) * perMinute
        if (level <= TokenBucket.capacity(perMinute)) return RateLimit.step(state, now, policy)
        const [verdict, next] = RateLimit.step(undefined, now, policy)
        return [verdict, { ...next, level: level - TokenBucket.COST }]
      })
    ),
  fault("limits.day-never-resets", "Never resets the daily count.")
    .breaks("limits.retry-after-promise")
    .by(
      RateLimits.decides((state, now, policy) =>
        RateLimit.step(state && { ...state, day: Math.floor(now / RateLimits.DAY_MS) }, now, policy)
      )
    ),
  fault("limits.day-of-another-zone", "Starts the day at midnight in the time zone UTC+14.")
    .breaks("limits.day-utc")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now + 14 * 3_600_000, policy)
        return [{ ...verdict, resetAt: verdict.resetAt - 14 * 3_600 }, next]
      })
    ),
  fault("limits.whole-minutes", "Refills the whole bucket at once after a minute.")
    .breaks("limits.bucket-refill")
    .by(
      RateLimits.decides((state, now, policy) =>
        RateLimit.step(state, state !== undefined && now - state.at < 60_000 ? state.at : now, policy)
      )
    ),
  fault("limits.denials-cost", "Also counts denied requests.")
    .breaks("limits.denied-costs-nothing")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        const cost = verdict.outcome === "admitted" ? 0 : TokenBucket.COST
        return [verdict, { ...next, level: next.level - cost }]
      })
    ),
  fault(
    "limits.clock-back-refills",
    "Moves the time of a state back when the clock steps back, so that the same seconds refill the bucket twice."
  )
    .breaks("limits.clock-back")
    .by(
      AtPort.limits(
        RateLimits.deciding((state, now, policy) =>
          RateLimit.step(state && { ...state, at: Math.min(state.at, now) }, now, policy)
        )
      )
    ),
  fault(
    "limits.clock-locks-out",
    "Refills nothing after the clock stepped back, until it reaches the earlier time again."
  )
    .breaks("limits.clock-lead")
    .by(
      AtPort.limits(
        RateLimits.deciding((state, now, policy) =>
          RateLimit.step(state, Math.max(now, state?.at ?? now), policy)
        )
      )
    ),
  fault("limits.one-budget-for-all", "Counts the requests of all keys together.")
    .breaks("limits.counted-per-key")
    .by(
      AtHttp.limits((real) => ({
        modify: real.modify,
        consume: (_key, now, policy) => real.modify("all", (state) => RateLimit.step(state, now, policy))
      }))
    ),
  fault("limits.after-routing", "Returns 404 for unknown paths before it checks the limit.")
    .breaks("limits.before-routing")
    .by(AtHttp.responses({ to: ({ target }) => target.endsWith("/nothing"), status: 429 }, Edit.status(404))),
  fault("limits.creations-exempt", "Does not limit creations.")
    .breaks("limits.every-operation")
    .by(
      AtHttp.requests(
        (request, { keys }) => Requests.isCreation(request) && Requests.hasKey(request, keys.tiny),
        (request, { keys }) => Requests.withKey(request, keys.main)
      )
    ),
  fault("limits.denied-but-stored", "Stores the animal of a creation that it denies.")
    .breaks("limits.refused-unstored")
    .by(
      AtHttp.alsoSends(
        (request, { keys }) => Requests.isCreation(request) && Requests.hasKey(request, keys.tiny),
        (request, { keys }) => Requests.withKey(request, keys.main)
      )
    )
]
