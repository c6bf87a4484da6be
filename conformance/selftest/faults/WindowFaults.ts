/** Defines faults in the lengths of minute and day windows, and faults that only a long run detects. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import { type Header, header } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Stores the rate-limit headers of the latest response in one variable, which concurrent responses overwrite. */
const sharedHeaders: Where = AtHttp.transport((real) => {
  let latest: ReadonlyArray<Header> = []
  return Effect.fnUntraced(function* (request) {
    const response = yield* real(request)
    const names = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
    latest = names.map((name) => [name, header(response, name) ?? ""] as const)
    // Simulates the time that writing the response takes.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    return latest.reduce((sent, [name, value]) => Edit.header(name, value)(sent), response)
  })
})

/** Removes the main key from every 50th request, like a replica that does not know the key. */
const dropsKey: Where = AtHttp.transport((real, { keys }) => {
  let sent = 0
  return (request) =>
    real(
      Requests.hasKey(request, keys.main) && ++sent % 50 === 0
        ? Requests.withKey(request, undefined)
        : request
    )
})

export const faults: ReadonlyArray<Fault> = [
  fault("limits.minute-of-30-s", "Uses a minute window of 30 seconds.")
    .breaks("limits.per-minute")
    .by(RateLimits.decides(RateLimits.windows(30_000, RateLimits.DAY_MS))),
  fault("limits.minute-refilled-twice", "Refills twice as fast as the plan allows.")
    .breaks("limits.per-minute")
    .by(
      RateLimits.decides((state, now, policy) => {
        const since = state === undefined ? 0 : now - state.at
        return RateLimit.step(state && { ...state, at: state.at - since }, now, policy)
      })
    ),
  fault("limits.minute-of-90-s", "Uses a minute window of 90 seconds.")
    .breaks("limits.no-early-429")
    .by(RateLimits.decides(RateLimits.windows(90_000, RateLimits.DAY_MS))),
  fault("limits.day-of-12-hours", "Uses a day window of 12 hours.")
    .breaks("limits.per-day")
    .by(RateLimits.decides(RateLimits.windows(60_000, RateLimits.DAY_MS / 2))),
  fault("limits.day-of-48-hours", "Uses a day window of 48 hours.")
    .breaks("limits.no-early-429")
    .by(RateLimits.decides(RateLimits.windows(60_000, 2 * RateLimits.DAY_MS))),
  fault("limits.day-plus-one", "Admits one request a day more than the plan allows.")
    .breaks("limits.per-day")
    .by(RateLimits.decides(RateLimits.windows(60_000, RateLimits.DAY_MS, 1))),
  fault(
    "limits.headers-of-latest",
    "Stores the rate-limit headers in one variable, which concurrent responses overwrite."
  )
    .breaks("limits.plan-in-force")
    .by(sharedHeaders),
  fault("limits.key-unknown-at-times", "Returns 401 for every 50th request with a valid key.")
    .breaks("auth.bearer")
    .by(dropsKey)
]
