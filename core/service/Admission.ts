/** Decides whether a request is admitted: by its key (401, contract §5), and by the limits (429, contract §8). */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as ApiKey from "../access/ApiKey.ts"
import * as ApiKeySecret from "../access/ApiKeySecret.ts"
import * as Bearer from "../access/Bearer.ts"
import type * as Carryover from "../access/Carryover.ts"
import * as Realm from "../access/Realm.ts"
import * as ApiError from "../errors/ApiError.ts"
import { catalogue } from "../errors/ErrorCatalogue.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { BanPolicy } from "../limits/BanPolicy.ts"
import * as Caller from "../limits/Caller.ts"
import * as CountPer from "../limits/CountPer.ts"
import * as OwnPlans from "../limits/OwnPlans.ts"
import * as Plan from "../limits/Plan.ts"
import type * as RateLimit from "../limits/RateLimit.ts"
import * as RateLimitStore from "../ports/RateLimitStore.ts"
import { AdmissionTurns } from "./AdmissionTurns.ts"
import type { Call } from "./Call.ts"
import * as ClientAddress from "./ClientAddress.ts"
import type { HostRoute } from "./HostRoute.ts"
import { UNAVAILABLE_RETRY_AFTER } from "./RateLimitHeaders.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

/** The limits against which a request is counted, and their state key. */
export interface Budget {
  readonly caller: string
  readonly policy: RateLimit.Policy
  /** Number of requests as which the request counts. */
  readonly cost: number
}

/** Ratio of the limits of a site to the limits of one network; a site has 65,536 networks. */
const SITE_BUDGET_FACTOR = 16

/**
 * Creates the function that returns the budgets of a request, in order: of its key, or else of its network and, for
 * IPv6, of the site that contains the network.
 */
export const budgets = (
  { anonymousPlan, trustedProxyHops }: Pick<ServiceOptions, "anonymousPlan" | "trustedProxyHops">,
  ban: BanPolicy,
  countPer: CountPer.CountPer
): ((call: Call) => ReadonlyArray<Budget>) => {
  const policy: RateLimit.Policy = { plan: anonymousPlan, ban: undefined }
  const sitePlan: Plan.Plan = {
    perMinute: Math.min(anonymousPlan.perMinute * SITE_BUDGET_FACTOR, Plan.maxRequests),
    perDay: Math.min(anonymousPlan.perDay * SITE_BUDGET_FACTOR, Plan.maxRequests)
  }
  const sitePolicy: RateLimit.Policy = { plan: sitePlan, ban: undefined }
  return (call) => {
    const { hostRoute, key, request, route } = call
    if (key !== undefined) {
      // A request can cost no more than the whole limit; it would never be admitted.
      const { perDay, perMinute } = key.limits
      const asked = hostRoute === undefined ? (route?.operation?.cost ?? 1) : costOf(call, hostRoute)
      const cost = Math.min(asked, perMinute, perDay)
      return [{ caller: CountPer.callerOf(key, countPer), policy: { plan: key.limits, ban }, cost }]
    }
    const { network, site } = ClientAddress.networksOf(ClientAddress.of(request, trustedProxyHops))
    const budget = { caller: Caller.ofNetwork(network), policy, cost: 1 }
    return site === undefined
      ? [budget]
      : [budget, { caller: Caller.ofNetwork(site), policy: sitePolicy, cost: 1 }]
  }
}

/** Returns the cost of a request to a route of the host: 1 if its function throws, which is noted for the response. */
const costOf = (call: Call, hostRoute: HostRoute): number => {
  try {
    return hostRoute.cost()
  } catch (defect) {
    call.costDefect = defect ?? new Error("the function cost threw undefined")
    return 1
  }
}

/**
 * Maximum number of keys whose usage is carried over at the same time: a store replaces states one by one, so that more
 * of them would wait beyond the deadline of their calls.
 */
const MAX_CARRIED = 8

/** Creates the function that counts a request against a budget. */
export const counter = (
  limits: RateLimitStore.RateLimitStore["Service"],
  carryOver: ReturnType<typeof Carryover.make>,
  { onLimitsUnavailable }: Pick<ServiceOptions, "onLimitsUnavailable">
) => {
  const turns = new AdmissionTurns(MAX_CARRIED)
  return (
    call: Call,
    { caller, cost, policy }: Budget
  ): Effect.Effect<RateLimit.Verdict, StoreUnavailable> => {
    call.plan = policy.plan
    const carried = call.key && carryOver(call.key, call.now)
    const consume = () => RateLimitStore.consume(limits, caller, call.now, policy, cost)
    const counted =
      carried === undefined ? consume() : Effect.flatMap(inTurn(turns, caller, carried), consume)
    if (onLimitsUnavailable === "closed") return counted
    return Effect.catch(counted, (failure) => {
      const standIn = uncounted("admitted", policy.plan, call.now)
      call.standIn = standIn
      return Effect.as(call.logged(Effect.logWarning("request not counted", failure)), standIn)
    })
  }
}

/** Runs an effect when its turn comes; after a failure, all that wait run at once (`AdmissionTurns.leave`). */
const inTurn = <A, E>(
  turns: AdmissionTurns,
  caller: string,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const turn = turns.enter(() => caller)
    return Effect.onExit(Effect.andThen(turns.wait(turn), effect), (exit) =>
      Effect.sync(() => turns.leave(turn, Exit.isFailure(exit) && Cause.hasFails(exit.cause)))
    )
  })

/** Returns the widest network of a client, an IPv4 address or an IPv6 /48, for requests without a well-formed secret. */
export const siteOf = (
  { request }: Call,
  { trustedProxyHops }: Pick<ServiceOptions, "trustedProxyHops">
): string => {
  const { network, site = network } = ClientAddress.networksOf(ClientAddress.of(request, trustedProxyHops))
  return site
}

/** Returns the bytes of the secret that a request shows, and notes why it shows none. */
export const secretOf = (
  call: Call,
  authorization: string | undefined,
  { secretPrefix }: Realm.Realm
): Uint8Array | undefined => {
  const credential = Bearer.parse(authorization)
  call.credentialError = credential === undefined ? "missing_api_key" : "invalid_api_key"
  return credential === undefined || credential === "malformed"
    ? undefined
    : ApiKeySecret.parse(credential.token, secretPrefix)
}

/** Notes the key of a request, with the limits that apply now, if the key accepts the secret with this hash. */
export const identify = (
  call: Call,
  hash: string,
  key: Option.Option<ApiKey.ApiKey>,
  plans: OwnPlans.OwnPlans
): void => {
  if (Option.isNone(key) || !ApiKey.accepts(key.value, hash, call.now)) return
  call.key = OwnPlans.current(plans, key.value)
  call.credentialError = undefined
}

/** Returns the verdict that the headers show after two budgets: the denial, or the one with fewer requests left. */
export const tighter = (
  first: RateLimit.Verdict | undefined,
  second: RateLimit.Verdict
): RateLimit.Verdict =>
  first !== undefined && second.outcome === "admitted" && first.remaining <= second.remaining ? first : second

/** Creates the function that returns the reply to a request that is not admitted; `undefined` if it is admitted. */
export const rejections = (realm: Realm.Realm): ((call: Call) => ServiceResponse.Reply | undefined) => {
  const challenge = `Bearer realm="${realm.name}"`
  const unauthorized = (code: "missing_api_key" | "invalid_api_key", parameters: string) =>
    ServiceResponse.error(ApiError.make(code, Realm.inWordsOf(realm, catalogue[code].meaning)), [
      "WWW-Authenticate",
      challenge + parameters
    ])
  const replies = {
    missing_api_key: unauthorized("missing_api_key", ""),
    invalid_api_key: unauthorized("invalid_api_key", ', error="invalid_token"')
  }
  return ({ credentialError, verdict }) => {
    if (verdict?.outcome === "limited") return limited
    if (verdict?.outcome === "banned") return banned
    return credentialError && replies[credentialError]
  }
}

const limited = ServiceResponse.error(ApiError.make("rate_limit_exceeded"))
const banned = ServiceResponse.error(ApiError.make("api_key_banned"))

/**
 * Returns the verdict on a request that was not counted. If it is admitted nevertheless, no request is used up;
 * otherwise no requests remain, and the limits reset when a retry may succeed.
 */
export const uncounted = (
  outcome: "admitted" | "limited",
  { perDay, perMinute }: Plan.Plan,
  now: number
): RateLimit.Verdict => {
  const wait = outcome === "admitted" ? 0 : UNAVAILABLE_RETRY_AFTER
  const window = (limit: number) => ({ limit, remaining: outcome === "admitted" ? limit : 0, moreIn: wait })
  const minute = window(perMinute)
  return {
    outcome,
    limit: perMinute,
    remaining: minute.remaining,
    resetAt: Math.ceil(now / 1000) + wait,
    retryAfter: wait,
    minute,
    day: window(perDay)
  }
}
