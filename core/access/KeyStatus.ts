/** Returns API keys with their usage, lifts bans, and reads the recorded key events. */
import * as Clock from "effect/Clock"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { BanPolicy } from "../limits/BanPolicy.ts"
import * as CountPer from "../limits/CountPer.ts"
import * as OwnPlans from "../limits/OwnPlans.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as Usage from "../limits/Usage.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as RateLimitStore from "../ports/RateLimitStore.ts"
import { Actor } from "./Actor.ts"
import * as ApiKey from "./ApiKey.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import type { KeyEvent } from "./KeyEvent.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"
import { Realm } from "./Realm.ts"

/** A key with its current usage. */
export interface KeyStatus extends ApiKey.ApiKey {
  readonly usage: Usage.Usage
}

type Ports = ApiKeyStore | RateLimitStore.RateLimitStore

/** Returns the key with its usage. */
export const show = Effect.fn("KeyStatus.show")(function* (
  id: string
): Effect.fn.Return<KeyStatus, KeyLifecycle.ApiKeyUnknown | StoreUnavailable, Ports> {
  const key = yield* KeyLifecycle.find(id)
  return withUsage(yield* usageOf([key]))(key)
})

/** Returns the key that accepts `secret` now, with its usage; `undefined` if there is none. Counts no request. */
export const verify = Effect.fn("KeyStatus.verify")(function* (
  secret: string
): Effect.fn.Return<KeyStatus | undefined, StoreUnavailable, Ports | Digest.Digest> {
  const bytes = ApiKeySecret.parse(secret, (yield* Realm).secretPrefix)
  if (bytes === undefined) return undefined
  const hash = yield* ApiKeySecret.hashWith(yield* Digest.Digest, bytes)
  const found = yield* (yield* ApiKeyStore).findByHash(hash)
  const now = yield* Clock.currentTimeMillis
  if (Option.isNone(found) || !ApiKey.accepts(found.value, hash, now)) return undefined
  const key = OwnPlans.current(yield* OwnPlans.OwnPlans, found.value)
  return withUsage(yield* usageOf([key]))(key)
})

/** Which keys to list. */
export interface ListOptions {
  /** Only the keys of this account; all keys if the property is absent. */
  readonly account?: string
}

/** Returns the keys with their usage, oldest first. */
export const list = Effect.fn("KeyStatus.list")(function* (
  options: ListOptions = {}
): Effect.fn.Return<ReadonlyArray<KeyStatus>, StoreUnavailable, Ports> {
  const all = yield* KeyLifecycle.list
  // The account of a caller without one must not select the keys of all accounts.
  const keys = "account" in options ? all.filter(({ account }) => account === options.account) : all
  return yield* ofKeys(keys)
})

/**
 * Returns these keys with their usage now.
 *
 * @internal
 */
export const ofKeys = (
  keys: ReadonlyArray<ApiKey.ApiKey>
): Effect.Effect<ReadonlyArray<KeyStatus>, StoreUnavailable, RateLimitStore.RateLimitStore> =>
  Effect.map(usageOf(keys), (usage) => keys.map(withUsage(usage)))

/**
 * Lifts the ban of the key, and clears its ban level, strikes and debt, immediately on all servers; for all keys of its
 * account if they are counted together. Both windows are unchanged. Returns the status of the key before the change.
 */
export const unban = Effect.fn("KeyStatus.unban")(function* (
  id: string
): Effect.fn.Return<KeyStatus, ApiKey.ApiKeyRevoked | KeyLifecycle.ApiKeyUnknown | StoreUnavailable, Ports> {
  const before = yield* show(id)
  if (before.revokedAt !== undefined) return yield* new ApiKey.ApiKeyRevoked({ id })
  const { bannedUntil, strikes } = before.usage
  const now = yield* Clock.currentTimeMillis
  const event: KeyEvent = {
    at: now,
    actor: yield* Actor,
    keyId: id,
    action: "unbanned",
    changes: {
      ...(bannedUntil === undefined ? undefined : { bannedUntil: { from: bannedUntil, to: null } }),
      ...(strikes === 0 ? undefined : { strikes: { from: strikes, to: 0 } })
    }
  }
  // The event is recorded first: rate limits may be in another database, and every lifted ban must have an event.
  yield* (yield* ApiKeyStore).update(id, (key) => [undefined, key, event])
  const caller = CountPer.callerOf(before, yield* CountPer.CountPer)
  yield* (yield* RateLimitStore.RateLimitStore).modify(caller, (state) => [
    undefined,
    state === undefined ? RateLimit.initial(now, before.limits) : RateLimit.unban(state)
  ])
  return before
})

/** Returns the recorded events of all keys or of the key `id`, oldest first; empty if the store records no events. */
export const log = Effect.fn("KeyStatus.log")(function* (
  id?: string
): Effect.fn.Return<ReadonlyArray<KeyEvent>, KeyLifecycle.ApiKeyUnknown | StoreUnavailable, ApiKeyStore> {
  const store = yield* ApiKeyStore
  const recorded = store.events === undefined ? [] : yield* store.events(id)
  // The events of a key outlive the key, so the key is looked up only if it has no events.
  if (id !== undefined && recorded.length === 0) yield* KeyLifecycle.find(id)
  return recorded
})

const withUsage =
  (usageOf: (key: ApiKey.ApiKey) => Usage.Usage) =>
  (key: ApiKey.ApiKey): KeyStatus => ({ ...key, usage: usageOf(key) })

/** Reads the rate-limit states of the keys, and returns a function that computes the usage of a key. */
const usageOf = Effect.fnUntraced(function* (
  keys: ReadonlyArray<ApiKey.ApiKey>
): Effect.fn.Return<(key: ApiKey.ApiKey) => Usage.Usage, StoreUnavailable, RateLimitStore.RateLimitStore> {
  const ban = yield* BanPolicy
  const countPer = yield* CountPer.CountPer
  // Tokens of administrators never count as an account, and its usage is not theirs.
  const isShared = (yield* Realm).name === "animals"
  const callersOf = (key: ApiKey.ApiKey) => [
    CountPer.callerOf(key, countPer),
    isShared ? CountPer.otherCallerOf(key, countPer) : undefined
  ]
  const callers = new Set(keys.flatMap(callersOf).filter((caller) => caller !== undefined))
  const store = yield* RateLimitStore.RateLimitStore
  const { at, states } = yield* RateLimitStore.read(store, [...callers], yield* Clock.currentTimeMillis)
  return (key) => {
    const [state, other] = callersOf(key).map((caller = "") => states.get(caller))
    // The next request of the key carries over what was counted under the other setting.
    const carried =
      other && RateLimit.withUsageOf(state ?? RateLimit.initial(at, key.limits), other, at, key.limits)
    return Usage.at(carried ?? state, at, key.limits, ban)
  }
})
