/** The first half of the pipeline: who calls (401, contract §5), and whether they may now (429, contract §8). */

import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ApiKey from "../access/ApiKey.ts"
import * as ApiKeySecret from "../access/ApiKeySecret.ts"
import * as Bearer from "../access/Bearer.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { BanPolicy } from "../limits/BanPolicy.ts"
import * as Plan from "../limits/Plan.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as ClientAddress from "./ClientAddress.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import type { ServiceRequest } from "./ServiceRequest.ts"

export interface Admission {
  /** What the rate headers of the answer say. */
  readonly verdict: RateLimit.Verdict
  /** Why the request is not carried out, or `undefined` when it is. */
  readonly refusal: ApiError.ApiError | undefined
}

/** Seconds after which a client may try again when a store is out of reach. */
export const UNAVAILABLE_RETRY_AFTER = 5

type UnauthorizedCode = "missing_api_key" | "invalid_api_key"

/** Admits requests and counts them: a valid key against its own limits, all others against their network's. */
export const make = Effect.fnUntraced(function* (options: ServiceOptions) {
  const keys = yield* ApiKeyStore
  const limits = yield* RateLimitStore
  const ban = yield* BanPolicy
  const digest = yield* Digest.Digest

  const consume = (key: string, now: number, policy: RateLimit.Policy) =>
    limits.consume?.(key, now, policy) ?? limits.modify(key, (state) => RateLimit.step(state, now, policy))

  const count = (
    caller: string,
    policy: RateLimit.Policy,
    now: number,
    refusal: ApiError.ApiError | undefined
  ): Effect.Effect<Admission> =>
    Effect.matchEffect(consume(caller, now, policy), {
      onSuccess: (verdict) => Effect.succeed({ verdict, refusal: refusalOf(verdict) ?? refusal }),
      onFailure: (failure) =>
        options.onLimitsUnavailable === "open"
          ? Effect.as(reportUnavailable(failure), { verdict: uncounted(policy.plan, now), refusal })
          : unavailable(failure, policy.plan, now)
    })

  const anonymous = (address: string | undefined, now: number, refusal: ApiError.ApiError) =>
    count(
      `network:${ClientAddress.network(address)}`,
      { plan: options.anonymousPlan, ban: undefined },
      now,
      refusal
    )

  const unauthorized = (request: ServiceRequest, now: number, code: UnauthorizedCode) => {
    const address = ClientAddress.effective(
      request.clientAddress,
      request.header("x-forwarded-for"),
      options.trustedProxyHops
    )
    return anonymous(address, now, ApiError.make(code))
  }

  const admit = (request: ServiceRequest, now: number): Effect.Effect<Admission> => {
    const credential = Bearer.parse(request.header("authorization"))
    if (credential === undefined) return unauthorized(request, now, "missing_api_key")
    if (credential === "malformed" || !ApiKeySecret.isWellFormed(credential.token)) {
      return unauthorized(request, now, "invalid_api_key")
    }
    return Effect.flatMap(ApiKeySecret.hashWith(digest, credential.token), (hash) =>
      Effect.matchEffect(keys.findByHash(hash), {
        onSuccess: (key) =>
          Option.isSome(key) && ApiKey.accepts(key.value, hash, now)
            ? count(`key:${key.value.id}`, { plan: key.value.limits, ban }, now, undefined)
            : unauthorized(request, now, "invalid_api_key"),
        onFailure: (failure) => unavailable(failure, Plan.standard.Free, now)
      })
    )
  }

  return {
    admit,
    /** Counts a request that broke off before it could say who sends it. */
    anonymous
  }
})

const refusalOf = ({ outcome }: RateLimit.Verdict): ApiError.ApiError | undefined => {
  switch (outcome) {
    case "admitted":
      return undefined
    case "limited":
      return ApiError.make("rate_limit_exceeded")
    case "banned":
      return ApiError.make("api_key_banned")
  }
}

/** Logs what the answer must not tell. */
export const reportUnavailable = (failure: StoreUnavailable): Effect.Effect<void> =>
  Effect.logWarning("a store is unavailable", failure)

const unavailable = (failure: StoreUnavailable, plan: Plan.Plan, now: number): Effect.Effect<Admission> =>
  Effect.as(reportUnavailable(failure), {
    verdict: unknownVerdict(plan, now),
    refusal: ApiError.make("service_unavailable")
  })

/** The headers of an answer whose limits could not be checked. */
export const unknownVerdict = (plan: Plan.Plan, now: number): RateLimit.Verdict => ({
  outcome: "limited",
  limit: plan.perMinute,
  remaining: 0,
  resetAt: Math.ceil(now / 1000) + UNAVAILABLE_RETRY_AFTER,
  retryAfter: UNAVAILABLE_RETRY_AFTER
})

const uncounted = (plan: Plan.Plan, now: number): RateLimit.Verdict => ({
  outcome: "admitted",
  limit: plan.perMinute,
  remaining: plan.perMinute,
  resetAt: Math.ceil(now / 1000),
  retryAfter: 0
})
