/** Changes the plan, limits, label, account, metadata or expiry of an API key. Its id, secrets and usage stay the same. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as CountPer from "../limits/CountPer.ts"
import * as OwnPlans from "../limits/OwnPlans.ts"
import { isStandard, type Plan, type PlanName } from "../limits/Plan.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import { Actor } from "./Actor.ts"
import { type ApiKey, ApiKeyRevoked } from "./ApiKey.ts"
import * as Carryover from "./Carryover.ts"
import * as Expiry from "./Expiry.ts"
import * as KeyEvent from "./KeyEvent.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"

/**
 * What to change; absent fields stay as they are, and `null` removes a value. A new `plan` has its own limits unless
 * `limits` overrides them; without `plan`, an absent limit stays as it is. Metadata replaces all of the old. A key that
 * has expired becomes valid again if the new expiry is in the future.
 */
export type KeyChange = {
  readonly [field in keyof KeyLifecycle.IssueOptions]?: KeyLifecycle.IssueOptions[field] | undefined
}

/** Why a key cannot be changed. */
export type KeyChangeFailure = ApiKeyRevoked | KeyLifecycle.IssueFailure

type Failure = KeyChangeFailure | KeyLifecycle.ApiKeyUnknown | StoreUnavailable

/**
 * Applies the change at `now` (epoch milliseconds). Returns the same object if no field differs.
 *
 * @internal
 */
export const apply = (
  key: ApiKey,
  wanted: KeyChange,
  now: number,
  ownPlans?: OwnPlans.OwnPlans
): Result.Result<ApiKey, KeyChangeFailure> =>
  Result.gen(function* () {
    if (key.revokedAt !== undefined) return yield* Result.fail(new ApiKeyRevoked({ id: key.id }))
    const { expires, limits, plan } = wanted
    const changed: ApiKey = {
      ...key,
      ...(yield* KeyLifecycle.changedFields(key, wanted)),
      plan: plan ?? key.plan,
      limits: yield* changedLimits(key, plan, limits, ownPlans),
      expiresAt: expires === undefined ? key.expiresAt : yield* Expiry.resolve(expires, now)
    }
    return Object.keys(KeyEvent.changesBetween(key, changed)).length === 0 ? key : changed
  })

const changedLimits = (
  key: ApiKey,
  plan: PlanName | undefined,
  limits: KeyChange["limits"],
  ownPlans: OwnPlans.OwnPlans | undefined
): Result.Result<Plan, KeyLifecycle.PlanInvalid> => {
  const given = KeyLifecycle.withoutUndefined(limits)
  if (plan !== undefined) return KeyLifecycle.limitsOf({ plan, limits }, ownPlans)
  // Also keeps the limits of a plan that this process does not know.
  if (Object.keys(given).length === 0) return Result.succeed(key.limits)
  const overrides = isStandard(key.plan) ? { ...key.limits, ...given } : given
  return KeyLifecycle.limitsOf({ plan: key.plan, limits: overrides }, ownPlans)
}

/** Carries usage over before the key moves to another account, if requests are counted per account. */
const carryOver = Effect.fnUntraced(function* (
  id: string,
  wanted: KeyChange,
  now: number,
  plans: OwnPlans.OwnPlans
): Effect.fn.Return<void, Failure, ApiKeyStore | RateLimitStore> {
  const countPer = yield* CountPer.CountPer
  if (countPer === "key") return
  const key = yield* KeyLifecycle.find(id)
  const next = yield* Effect.fromResult(apply(key, wanted, now, plans))
  const [from, to] = [CountPer.callerOf(key, countPer), CountPer.callerOf(next, countPer)]
  if (from !== to) yield* Carryover.carry(yield* RateLimitStore, from, to, next, now)
})

/**
 * Changes the key and returns its new record. A running server applies the change at the latest when its cached copy of
 * the key expires. The key keeps its usage: a lower limit caps the bucket, a higher limit does not fill it.
 * If requests are counted per account, a new account shows the larger usage of both.
 */
export const change = Effect.fn("KeyChange.change")(function* (
  id: string,
  wanted: KeyChange
): Effect.fn.Return<ApiKey, Failure, ApiKeyStore | RateLimitStore> {
  const now = yield* Clock.currentTimeMillis
  const actor = yield* Actor
  const plans = yield* OwnPlans.OwnPlans
  if (wanted.account !== undefined) yield* carryOver(id, wanted, now, plans)
  const changed = yield* (yield* ApiKeyStore).update<ReturnType<typeof apply>>(id, (key) => {
    const result = apply(key, wanted, now, plans)
    if (Result.isFailure(result) || result.success === key) return [result, key]
    const changes = KeyEvent.changesBetween(key, result.success)
    return [result, result.success, { at: now, actor, keyId: id, action: "changed", changes }]
  })
  const key = yield* Effect.fromResult(yield* KeyLifecycle.orUnknown(id, changed))
  return OwnPlans.current(plans, key)
})
