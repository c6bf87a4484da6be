/** The first half of the pipeline: who calls (401, contract §5), and whether they may now (429, contract §8). */

import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ApiKey from "../access/ApiKey.ts"
import * as ApiKeySecret from "../access/ApiKeySecret.ts"
import * as Bearer from "../access/Bearer.ts"
import type { ErrorCode } from "../errors/ErrorCatalogue.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { BanPolicy } from "../limits/BanPolicy.ts"
import * as Caller from "../limits/Caller.ts"
import * as Plan from "../limits/Plan.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as Immediate from "../ports/Immediate.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as ClientAddress from "./ClientAddress.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import type { ServiceRequest } from "./ServiceRequest.ts"

export interface Admission {
  /** What the rate headers of the answer say. */
  readonly verdict: RateLimit.Verdict
  /** Why the request is not carried out, or `undefined` when it is. */
  readonly refusal: Refusal | undefined
  /** What kept it from being counted, to be logged: the answer must not tell. */
  readonly failure: StoreUnavailable | undefined
}

/** Codes of the catalogue that a request is answered with before anybody looks at what it asks for. */
export type Refusal = Extract<
  ErrorCode,
  "missing_api_key" | "invalid_api_key" | "rate_limit_exceeded" | "api_key_banned" | "service_unavailable"
>

/** Seconds after which a client may try again when a store is out of reach. */
export const UNAVAILABLE_RETRY_AFTER = 5

/** Under which name a key is counted; kept, since a text put together anew is hashed anew by a map (0.2 µs). */
const callerOf = (key: ApiKey.ApiKey): string => {
  const known = callers.get(key)
  if (known !== undefined) return known
  const caller = Caller.ofKey(key.id)
  callers.set(key, caller)
  return caller
}

const callers = new WeakMap<ApiKey.ApiKey, string>()

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
    refusal: Refusal | undefined
  ): Effect.Effect<Admission> =>
    Effect.matchEager(Immediate.start(consume(caller, now, policy)), {
      onSuccess: (verdict) => ({
        verdict,
        refusal: refusalOf[verdict.outcome] ?? refusal,
        failure: undefined
      }),
      onFailure: (failure) =>
        options.onLimitsUnavailable === "open"
          ? { verdict: uncounted(policy.plan, now), refusal, failure }
          : unavailable(failure, policy.plan, now)
    })

  const anonymousPolicy: RateLimit.Policy = { plan: options.anonymousPlan, ban: undefined }

  const sitePolicy: RateLimit.Policy = { plan: sitePlan(options.anonymousPlan), ban: undefined }

  // A network that is denied costs its site nothing: others of the site must not pay for it.
  const anonymous = (
    address: string | undefined,
    now: number,
    refusal: Refusal | undefined
  ): Effect.Effect<Admission> => {
    const { network, site } = ClientAddress.networksOf(address)
    const counted = count(Caller.ofNetwork(network), anonymousPolicy, now, refusal)
    if (site === undefined) return counted
    return Effect.flatMapEager(counted, (ofNetwork) =>
      ofNetwork.verdict.outcome !== "admitted" || ofNetwork.failure !== undefined
        ? Effect.succeed(ofNetwork)
        : Effect.mapEager(count(Caller.ofNetwork(site), sitePolicy, now, refusal), (ofSite) =>
            ofSite.verdict.outcome === "admitted" && ofNetwork.verdict.remaining <= ofSite.verdict.remaining
              ? ofNetwork
              : ofSite
          )
    )
  }

  const unauthorized = (request: ServiceRequest, now: number, refusal: Refusal) => {
    const address = ClientAddress.effective(
      request.clientAddress,
      request.header("x-forwarded-for"),
      options.trustedProxyHops
    )
    return anonymous(address, now, refusal)
  }

  const admit = (request: ServiceRequest, now: number): Effect.Effect<Admission, StoreUnavailable> => {
    const credential = Bearer.parse(request.header("authorization"))
    if (credential === undefined) return unauthorized(request, now, "missing_api_key")
    const secret = credential === "malformed" ? undefined : ApiKeySecret.wellFormed(credential.token)
    if (secret === undefined) return unauthorized(request, now, "invalid_api_key")
    return Effect.flatMapEager(Immediate.start(ApiKeySecret.hashWith(digest, secret)), (hash) =>
      Effect.flatMapEager(Immediate.start(keys.findByHash(hash)), (key) =>
        Option.isSome(key) && ApiKey.accepts(key.value, hash, now)
          ? count(callerOf(key.value), { plan: key.value.limits, ban }, now, undefined)
          : unauthorized(request, now, "invalid_api_key")
      )
    )
  }

  return {
    /** Fails when nobody can say who calls. */
    admit,
    /** Counts nothing but a probe, as requests are counted; without effect where uncounted requests are admitted. */
    countProbe: (now: number): Effect.Effect<void, StoreUnavailable> =>
      options.onLimitsUnavailable === "open"
        ? Effect.void
        : Effect.asVoid(Effect.suspend(() => consume(PROBE, now, probePolicy))),
    /** Counts a request that broke off before it could say who sends it. */
    countBroken: (address: string | undefined, now: number) => anonymous(address, now, undefined)
  }
})

/** Under which name probes are counted: no caller has it. The plan is never exhausted, so that each probe is a write. */
const PROBE = "readiness"
const probePolicy: RateLimit.Policy = {
  plan: { perMinute: 1_000_000, perDay: 1_000_000_000 },
  ban: undefined
}

const refusalOf: { readonly [outcome in RateLimit.Outcome]: Refusal | undefined } = {
  admitted: undefined,
  limited: "rate_limit_exceeded",
  banned: "api_key_banned"
}

/** Networks of a site that may use up their whole budget: a site has 65 536 of them. */
const NETWORKS_PER_SITE = 16

const sitePlan = ({ perDay, perMinute }: Plan.Plan): Plan.Plan => ({
  perMinute: Math.min(perMinute * NETWORKS_PER_SITE, Plan.maxRequests),
  perDay: Math.min(perDay * NETWORKS_PER_SITE, Plan.maxRequests)
})

/** The admission of a request that a store kept from being counted. */
const unavailable = (failure: StoreUnavailable, plan: Plan.Plan, now: number): Admission => ({
  verdict: unknownVerdict(plan, now),
  refusal: "service_unavailable",
  failure
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
