/** Faults in the counting of requests. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../../core/limits/TokenBucket.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import { type Header, header, type WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

const operations = {
  lists: Requests.isList,
  "filtered lists": (request: WireRequest) => Requests.listParameter(request, "status") !== null,
  creations: Requests.isCreation,
  retrievals: Requests.isGet
}

const windows = ["minute", "day"] as const

const escapes = Object.entries(operations).flatMap(([name, isFree]) =>
  windows.flatMap((window) => [
    fault(`limits.${window}-free-for-${name.replace(" ", "-")}`, `Does not count ${name} in the ${window}.`)
      .breaks("limits.remaining-truth")
      .by(RateLimits.withoutCost(isFree, window)),
    fault(`limits.${window}-open-for-${name.replace(" ", "-")}`, `The ${window} never denies ${name}.`)
      .breaks(window === "day" ? "limits.per-day" : "limits.per-minute")
      .by(RateLimits.withoutLimit(isFree, window))
  ])
)

const refunds = [400, 404].flatMap((status) =>
  windows.map((window) =>
    fault(
      `limits.${window}-refunds-${status}`,
      `Does not count requests that get ${status} in the ${window}.`
    )
      .breaks("limits.remaining-truth")
      .by(RateLimits.refunding((response) => response.status === status, window))
  )
)

/** The lengths of the windows, and how many requests more than the plan the day admits. */
const lengths: ReadonlyArray<readonly [seconds: number, hours: number, extra: number, clause: ClauseSlug]> = [
  [30, 24, 0, "limits.per-minute"],
  [50, 24, 0, "limits.per-minute"],
  [75, 24, 0, "limits.no-early-429"],
  [60, 12, 0, "limits.per-day"],
  [60, 23, 0, "limits.per-day"],
  [60, 25, 0, "limits.no-early-429"],
  [60, 48, 0, "limits.no-early-429"],
  [60, 24, 1, "limits.per-day"]
]

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

export const faults: ReadonlyArray<Fault> = [
  ...escapes,
  ...refunds,
  ...lengths.map(([seconds, hours, extra, clause]) =>
    fault(
      `limits.windows-of-${seconds}-s-and-${hours}-h-plus-${extra}`,
      `Has a minute of ${seconds} s and a day of ${hours} h with ${extra} requests more than the plan.`
    )
      .breaks(clause)
      .by(RateLimits.decides(RateLimits.windows(seconds * 1_000, hours * 3_600_000, extra)))
  ),
  fault("limits.not-atomic", "Reads a state, yields, and writes the next, so that requests count as one.")
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
  fault("limits.whole-minutes", "Refills the whole bucket at once after a minute.")
    .breaks("limits.bucket")
    .by(
      RateLimits.decides((state, now, policy) =>
        RateLimit.step(state, state !== undefined && now - state.at < 60_000 ? state.at : now, policy)
      )
    ),
  fault("limits.after-routing", "Returns 404 for unknown paths before it checks the limit.")
    .breaks("http.order-of-checks")
    .by(AtHttp.responses({ to: ({ target }) => !target.includes("/pets"), status: 429 }, Edit.status(404))),
  fault(
    "limits.headers-of-latest",
    "Stores the rate headers in a variable that concurrent responses overwrite."
  )
    .breaks("limits.plan-in-force")
    .by(sharedHeaders),
  ...(["clock window", "token bucket", "sliding log"] as const).map((minute) =>
    fault(
      `limits.errors-free-in-a-${minute.replace(" ", "-")}`,
      `Does not count requests that get 4xx, in a ${minute}.`
    )
      .breaks("limits.remaining-truth")
      .by({ at: "plain", choices: { errorsCost: false, minute } })
  ),
  fault("anonymous.never-denied", "Counts requests without a valid key, but never denies them.")
    .breaks("limits.anonymous-exhausted")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        return [{ ...verdict, outcome: "admitted" }, next]
      }, "network:")
    ),
  fault("anonymous.shared-with-keys", "Also counts requests with a valid key in the bucket of their network.")
    .breaks("limits.counted-per-key")
    .by(
      AtHttp.alsoSends(
        (request, { keys }) => Requests.hasKey(request, keys.main),
        (request) => Requests.withKey(request, undefined)
      )
    )
]
