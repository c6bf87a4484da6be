/** Defines faults in the limits of callers without a valid key. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import type { WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Denies all requests, even those with a key, while callers without a key are over their limit. */
const deniesKeysToo: Where = AtHttp.transport((real) => {
  let denial: WireResponse | undefined
  return (request) =>
    Effect.map(real(request), (response) => {
      if (Requests.credentials(request).length === 0) {
        denial = response.status === 429 ? response : undefined
      }
      return denial ?? response
    })
})

export const faults: ReadonlyArray<Fault> = [
  fault("anonymous.not-counted", "Does not count requests without a valid key.")
    .breaks("limits.anonymous")
    .by(RateLimits.decides((_state, now, policy) => RateLimit.step(undefined, now, policy), "network:")),
  fault("anonymous.never-denied", "Counts requests without a valid key, but never denies them.")
    .breaks("limits.anonymous-exhausted")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        return [{ ...verdict, outcome: "admitted" }, next]
      }, "network:")
    ),
  fault("anonymous.denies-keys", "Denies requests with valid keys when the bucket of their network is empty.")
    .breaks("limits.anonymous-apart")
    .by(deniesKeysToo),
  fault("anonymous.shared-with-keys", "Also counts requests with a valid key in the bucket of their network.")
    .breaks("limits.anonymous-apart")
    .by(
      AtHttp.alsoSends(
        (request, { keys }) => Requests.hasKey(request, keys.main),
        (request) => Requests.withKey(request, undefined)
      )
    ),
  fault("anonymous.guesses-cost-keys", "Counts a wrong key against the key that it resembles.")
    .breaks("limits.guesses-apart")
    .by(
      AtHttp.alsoSends(
        (request, { keys }) =>
          !Requests.hasKey(request, keys.main) &&
          Requests.credentials(request).some((value) => value.startsWith(`Bearer ${keys.main.slice(0, 12)}`)),
        (request, { keys }) => Requests.withKey(request, keys.main)
      )
    )
]
