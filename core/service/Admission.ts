/** Decides whether a request is admitted: authenticates it (401, contract §5) and counts it (429, contract §8). */
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ApiKey from "../access/ApiKey.ts"
import * as ApiKeySecret from "../access/ApiKeySecret.ts"
import * as Bearer from "../access/Bearer.ts"
import { LastSeen } from "../access/LastSeen.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { ErrorCode } from "../errors/ErrorCatalogue.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { BanPolicy } from "../limits/BanPolicy.ts"
import * as Caller from "../limits/Caller.ts"
import * as Plan from "../limits/Plan.ts"
import type * as RateLimit from "../limits/RateLimit.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as NewBans from "./NewBans.ts"
import * as RequestLog from "./RequestLog.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import type { ServiceRequest } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

/** The decision about a request. */
export interface Admission {
  /** The values of the rate headers. */
  readonly verdict: RateLimit.Verdict
  /** The response to a rejected request; `undefined` if the request is admitted. */
  readonly rejection: ServiceResponse.ServiceResponse | undefined
  /** Whether the rate limit store has counted the request. */
  readonly isCounted: boolean
  /** The API key of the request, if the key is valid. */
  readonly key?: ApiKey.ApiKey | undefined
  /** End of the ban that this request began, in epoch milliseconds; absent if it began no ban. */
  readonly bannedUntil?: number | undefined
}

/** The arrival time of a request in epoch milliseconds, and its id. */
export interface Arrival {
  readonly now: number
  readonly requestId: string
}

/** Seconds in `Retry-After` when a store is unavailable. */
export const UNAVAILABLE_RETRY_AFTER = 5

/** The error codes of rejections. */
type Rejection = Extract<
  ErrorCode,
  "missing_api_key" | "invalid_api_key" | "rate_limit_exceeded" | "api_key_banned" | "service_unavailable"
>

/**
 * Creates the functions that admit the requests of a service. Each valid key has its own limits; requests without a
 * valid key share the limits of their network.
 */
export const make = Effect.fnUntraced(function* (options: ServiceOptions) {
  const keys = yield* ApiKeyStore
  const limitStore = yield* RateLimitStore
  const ban = yield* BanPolicy
  const digest = yield* Digest.Digest
  const noteSeen = yield* LastSeen
  const bans = NewBans.make()

  const consume = (caller: string, policy: RateLimit.Policy, now: number) =>
    limitStore.consume(caller, now, policy)

  /** Counts a request. `rejection` is its error in case the limits admit it, such as `invalid_api_key`. */
  const count = (
    caller: string,
    policy: RateLimit.Policy,
    { now, requestId }: Arrival,
    rejection?: Rejection,
    key?: ApiKey.ApiKey
  ): Effect.Effect<Admission> =>
    consume(caller, policy, now).pipe(
      Effect.map((verdict) => admission(verdict, rejectionOf[verdict.outcome] ?? rejection, true, key)),
      Effect.catch((failure) =>
        options.onLimitsUnavailable === "open"
          ? Effect.as(
              RequestLog.storeFailure("request not counted", failure, requestId),
              admission(uncountedVerdict(policy.plan, now), rejection, false, key)
            )
          : unavailable(failure, policy.plan, { now, requestId }, key)
      )
    )

  const networkPolicy: RateLimit.Policy = { plan: options.anonymousPlan, ban: undefined }
  const sitePolicy: RateLimit.Policy = { plan: sitePlan(options.anonymousPlan), ban: undefined }

  /** Counts a request without a valid key against its network and, for IPv6, the site that contains the network. */
  const countAnonymous = Effect.fnUntraced(function* (
    address: string | undefined,
    arrival: Arrival,
    rejection?: Rejection
  ) {
    const { network, site } = ClientAddress.networksOf(address)
    const networkAdmission = yield* count(Caller.ofNetwork(network), networkPolicy, arrival, rejection)
    // A request that is denied for its network is not counted against the site, because other networks share the site.
    if (
      site === undefined ||
      !networkAdmission.isCounted ||
      networkAdmission.verdict.outcome !== "admitted"
    ) {
      return networkAdmission
    }
    const siteAdmission = yield* count(Caller.ofNetwork(site), sitePolicy, arrival, rejection)
    const isNetworkTighter = networkAdmission.verdict.remaining <= siteAdmission.verdict.remaining
    return siteAdmission.verdict.outcome === "admitted" && isNetworkTighter ? networkAdmission : siteAdmission
  })

  const reject = (
    request: ServiceRequest,
    arrival: Arrival,
    rejection: Rejection
  ): Effect.Effect<Admission> => {
    const forwarded = request.header("x-forwarded-for")
    const address = ClientAddress.effective(request.clientAddress, forwarded, options.trustedProxyHops)
    return countAnonymous(address, arrival, rejection)
  }

  const admit = Effect.fnUntraced(
    function* (request: ServiceRequest, arrival: Arrival) {
      const credential = Bearer.parse(request.header("authorization"))
      if (credential === undefined) return yield* reject(request, arrival, "missing_api_key")
      const secret = credential === "malformed" ? undefined : ApiKeySecret.parse(credential.token)
      if (secret === undefined) return yield* reject(request, arrival, "invalid_api_key")

      const hash = yield* ApiKeySecret.hashWith(digest, secret)
      const key = yield* keys.findByHash(hash)
      if (Option.isNone(key) || !ApiKey.accepts(key.value, hash, arrival.now)) {
        return yield* reject(request, arrival, "invalid_api_key")
      }
      noteSeen(key.value, arrival.now)
      const { id, limits } = key.value
      const decision = yield* count(Caller.ofKey(id), { plan: limits, ban }, arrival, undefined, key.value)
      if (decision.verdict.beganBan && bans.isNew(id, decision.verdict.resetAt)) {
        yield* RequestLog.ban(id, key.value.plan, decision.verdict.resetAt * 1000, arrival.requestId)
        return { ...decision, bannedUntil: decision.verdict.resetAt * 1000 }
      }
      return decision
    },
    (admission, _, arrival) =>
      Effect.catchTag(admission, "StoreUnavailable", (failure) =>
        unavailable(failure, Plan.standard.Free, arrival)
      )
  )

  return {
    /** Authenticates and counts a request. */
    admit,
    /** Counts a transport error: a malformed or incomplete request that a host reports. */
    countTransportError: (address: string | undefined, arrival: Arrival) => countAnonymous(address, arrival),
    /** Tests the rate limit store without a write; does nothing if requests are admitted while it is unavailable. */
    checkLimits: (now: number): Effect.Effect<void, StoreUnavailable> => {
      if (options.onLimitsUnavailable === "open") return Effect.void
      return limitStore.rehearse ?? Effect.asVoid(limitStore.read?.([PROBE], now) ?? Effect.void)
    }
  }
})

/**
 * Returns the verdict on a request that could not be counted: no requests remain, and the limits reset when a retry may
 * succeed.
 */
export const unknownVerdict = ({ perDay, perMinute }: Plan.Plan, now: number): RateLimit.Verdict => ({
  outcome: "limited",
  limit: perMinute,
  remaining: 0,
  resetAt: Math.ceil(now / 1000) + UNAVAILABLE_RETRY_AFTER,
  retryAfter: UNAVAILABLE_RETRY_AFTER,
  minute: { limit: perMinute, remaining: 0, moreIn: UNAVAILABLE_RETRY_AFTER },
  day: { limit: perDay, remaining: 0, moreIn: UNAVAILABLE_RETRY_AFTER }
})

/** The state key of probes, which no caller has. */
const PROBE = "readiness"

/** Ratio of the limits of a site to the limits of one network; a site has 65,536 networks. */
const SITE_BUDGET_FACTOR = 16

const sitePlan = ({ perDay, perMinute }: Plan.Plan): Plan.Plan => ({
  perMinute: Math.min(perMinute * SITE_BUDGET_FACTOR, Plan.maxRequests),
  perDay: Math.min(perDay * SITE_BUDGET_FACTOR, Plan.maxRequests)
})

const unavailable = (
  failure: StoreUnavailable,
  plan: Plan.Plan,
  { now, requestId }: Arrival,
  key?: ApiKey.ApiKey
): Effect.Effect<Admission> =>
  Effect.as(
    RequestLog.storeFailure("503 service_unavailable", failure, requestId),
    admission(unknownVerdict(plan, now), "service_unavailable", false, key)
  )

const uncountedVerdict = ({ perDay, perMinute }: Plan.Plan, now: number): RateLimit.Verdict => ({
  outcome: "admitted",
  limit: perMinute,
  remaining: perMinute,
  resetAt: Math.ceil(now / 1000),
  retryAfter: 0,
  minute: { limit: perMinute, remaining: perMinute, moreIn: 0 },
  day: { limit: perDay, remaining: perDay, moreIn: 0 }
})

const admission = (
  verdict: RateLimit.Verdict,
  rejection: Rejection | undefined,
  isCounted = true,
  key: ApiKey.ApiKey | undefined = undefined
): Admission => ({ verdict, rejection: rejection && rejections[rejection], isCounted, key })

const rejectionOf: { readonly [outcome in RateLimit.Outcome]: Rejection | undefined } = {
  admitted: undefined,
  limited: "rate_limit_exceeded",
  banned: "api_key_banned"
}

const challenge = 'Bearer realm="animals"'

const headersOf: { readonly [rejection in Rejection]?: ReadonlyArray<ServiceResponse.Header> } = {
  missing_api_key: [["WWW-Authenticate", challenge]],
  invalid_api_key: [["WWW-Authenticate", `${challenge}, error="invalid_token"`]]
}

const rejectionResponse = (code: Rejection) => ServiceResponse.error(ApiError.make(code), headersOf[code])

const rejections: { readonly [code in Rejection]: ServiceResponse.ServiceResponse } = {
  missing_api_key: rejectionResponse("missing_api_key"),
  invalid_api_key: rejectionResponse("invalid_api_key"),
  rate_limit_exceeded: rejectionResponse("rate_limit_exceeded"),
  api_key_banned: rejectionResponse("api_key_banned"),
  service_unavailable: rejectionResponse("service_unavailable")
}
