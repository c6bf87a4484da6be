import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import * as MemoryApiKeyStore from "../../adapters/memory/MemoryApiKeyStore.ts"
import * as MemoryRateLimitStore from "../../adapters/memory/MemoryRateLimitStore.ts"
import { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as BanPolicy from "../limits/BanPolicy.ts"
import * as Caller from "../limits/Caller.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { make as makeRateLimitStore, RateLimitStore } from "../ports/RateLimitStore.ts"
import { Actor } from "./Actor.ts"
import * as ApiKey from "./ApiKey.ts"
import * as KeyChange from "./KeyChange.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"
import * as KeyStatus from "./KeyStatus.ts"

const DAY = 86_400_000
const START = 20_000 * DAY + 5_000

const crypto = Layer.merge(NodeCrypto.layerSecureRandom, NodeCrypto.layerDigest)

const fullStores = Layer.merge(
  Layer.fresh(MemoryApiKeyStore.layer),
  Layer.fresh(MemoryRateLimitStore.layerWith({ clock: "service" }))
)

/** Stores without the optional methods of the ports. */
const minimalStores = Layer.mergeAll(
  Layer.effect(
    ApiKeyStore,
    Effect.map(ApiKeyStore, ({ findByHash, insert, insertFirst, list, update }) => ({
      findByHash,
      insert,
      insertFirst,
      list,
      update
    }))
  ),
  Layer.effect(
    RateLimitStore,
    Effect.map(RateLimitStore, ({ modify }) => makeRateLimitStore({ modify }))
  )
).pipe(Layer.provide(fullStores))

const environment = (stores: typeof fullStores) => Layer.mergeAll(stores, crypto, Layer.succeed(Actor, "ana"))

/** Sends `count` requests at the current time and returns the outcome of the last one. */
const send = (key: ApiKey.ApiKey, count: number) =>
  Effect.gen(function* () {
    const { modify } = yield* RateLimitStore
    const now = yield* TestClock.testClockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe()))
    let outcome = ""
    for (let sent = 0; sent < count; sent++) {
      const policy = { plan: key.limits, ban: BanPolicy.standard }
      const verdict = yield* modify(Caller.ofKey(key.id), (state) => RateLimit.step(state, now, policy))
      outcome = verdict.outcome
    }
    return outcome
  })

/** Sends requests until the key is banned. */
const ban = (key: ApiKey.ApiKey) =>
  Effect.gen(function* () {
    while ((yield* send(key, 3 * key.limits.perMinute)) !== "banned") yield* TestClock.adjust(1_000)
  })

const smallPlan = { plan: "Enterprise", limits: { perMinute: 4, perDay: 1_000 } } as const

it.effect("show, unban and log read only one key of a store with `find`", () =>
  Effect.gen(function* () {
    const { key } = yield* KeyLifecycle.issue({ plan: "Free" })
    const store = yield* ApiKeyStore
    const work = Effect.all([
      KeyStatus.show(key.id),
      KeyStatus.unban(key.id),
      KeyStatus.log(key.id),
      Effect.flip(KeyStatus.log("key_unknown"))
    ])
    const [shown] = yield* Effect.provideService(work, ApiKeyStore, {
      ...store,
      list: Effect.die("all keys are read")
    })
    expect(shown).toMatchObject(key)
  }).pipe(Effect.provide(environment(fullStores)))
)

for (const [name, stores] of [
  ["with all methods", fullStores],
  ["without optional methods", minimalStores]
] as const) {
  describe(`KeyStatus on stores ${name}`, () => {
    it.effect("show and list return a key with its current usage", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const { key } = yield* KeyLifecycle.issue({ ...smallPlan, expires: { inMs: DAY } })
        const second = yield* KeyLifecycle.issue({ plan: "Free" })
        const unused = yield* KeyStatus.show(key.id)
        expect(unused).toEqual({
          ...key,
          expiresAt: START + DAY,
          usage: {
            minute: { limit: 4, remaining: 4, fullAt: START },
            day: { limit: 1_000, used: 0, remaining: 1_000, endsAt: 20_001 * DAY },
            strikes: 0,
            bannedUntil: undefined
          }
        })
        yield* send(key, 3)
        yield* TestClock.adjust(15_000)
        const used = yield* KeyStatus.show(key.id)
        expect(used.usage).toEqual({
          minute: { limit: 4, remaining: 2, fullAt: START + 45_000 },
          day: { limit: 1_000, used: 3, remaining: 997, endsAt: 20_001 * DAY },
          strikes: 0,
          bannedUntil: undefined
        })
        const listed = yield* KeyStatus.list()
        expect(listed).toEqual([used, yield* KeyStatus.show(second.key.id)])
        expect(listed[1]?.usage.day.used).toBe(0)
      }).pipe(Effect.provide(environment(stores)))
    )

    it.effect("list returns the keys of one account, in the order of all keys", () =>
      Effect.gen(function* () {
        const accounts = ["acme", undefined, "Acme", "acme"]
        const issued = yield* Effect.forEach(accounts, (account) =>
          KeyLifecycle.issue({ plan: "Free", account })
        )
        const idsOf = (account: string) =>
          Effect.map(KeyStatus.list({ account }), (keys) => keys.map(({ id }) => id))
        expect(yield* idsOf("acme")).toEqual([issued[0]?.key.id, issued[3]?.key.id])
        expect(yield* idsOf("Acme")).toEqual([issued[2]?.key.id])
        expect(yield* idsOf("none")).toEqual([])
        // @ts-expect-error only a string: `undefined` must not select the keys of all accounts
        const withoutAccount = yield* KeyStatus.list({ account: undefined })
        expect(withoutAccount.map(({ id }) => id)).toEqual([issued[1]?.key.id])
      }).pipe(Effect.provide(environment(stores)))
    )

    it.effect("unban clears the ban and the strikes of a key, and leaves its windows unchanged", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const { key } = yield* KeyLifecycle.issue(smallPlan)
        yield* ban(key)
        const before = yield* KeyStatus.show(key.id)
        expect(before.usage.bannedUntil).toBeGreaterThan(START)
        const [listed] = yield* KeyStatus.list()
        expect(listed?.usage.bannedUntil).toBe(before.usage.bannedUntil)
        expect(yield* KeyStatus.unban(key.id)).toEqual(before)
        const after = yield* KeyStatus.show(key.id)
        expect(after.usage).toEqual({ ...before.usage, strikes: 0, bannedUntil: undefined })
        expect(yield* send(key, 1)).toBe("limited")
        yield* TestClock.adjust(15_000)
        expect(yield* send(key, 1)).toBe("admitted")
      }).pipe(Effect.provide(environment(stores)))
    )

    it.effect("unban leaves the windows of a key unchanged if the key is not banned", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const { key } = yield* KeyLifecycle.issue(smallPlan)
        yield* KeyStatus.unban(key.id)
        yield* send(key, 1)
        yield* KeyStatus.unban(key.id)
        expect((yield* KeyStatus.show(key.id)).usage).toMatchObject({
          minute: { remaining: 3 },
          day: { used: 1 }
        })
      }).pipe(Effect.provide(environment(stores)))
    )

    it.effect("all calls fail for an unknown key; unban and change also fail for a revoked key", () =>
      Effect.gen(function* () {
        const unknown = new KeyLifecycle.ApiKeyUnknown({ id: "key_none", noun: "API key" })
        expect(yield* Effect.flip(KeyStatus.show("key_none"))).toEqual(unknown)
        expect(yield* Effect.flip(KeyStatus.unban("key_none"))).toEqual(unknown)
        expect(yield* Effect.flip(KeyStatus.log("key_none"))).toEqual(unknown)
        expect(yield* Effect.flip(KeyChange.change("key_none", { plan: "Pro" }))).toEqual(unknown)
        const { key } = yield* KeyLifecycle.issue({ plan: "Free" })
        const revoked = yield* KeyLifecycle.revoke(key.id)
        const before = yield* KeyStatus.log()
        const failure = new ApiKey.ApiKeyRevoked({ id: key.id })
        expect(yield* Effect.flip(KeyStatus.unban(key.id))).toEqual(failure)
        expect(yield* Effect.flip(KeyChange.change(key.id, { label: "late" }))).toEqual(failure)
        expect(yield* KeyLifecycle.list).toEqual([revoked])
        expect(yield* KeyStatus.log()).toEqual(before)
      }).pipe(Effect.provide(environment(stores)))
    )
  })
}

describe("KeyStatus.log", () => {
  it.effect("returns each action with its time, actor and changed values, and without secrets", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START)
      const { key, secret } = yield* KeyLifecycle.issue({
        ...{ plan: "Free", label: "shop", metadata: { crm: [7] } }
      })
      const first = yield* KeyLifecycle.issueFirst({ plan: "Pro" })
      expect(first._tag).toBe("None")
      yield* TestClock.adjust(1)
      yield* KeyChange.change(key.id, {
        ...{ plan: "Pro", label: null, account: "acme", metadata: { crm: 8 }, expires: { inMs: 9_000 } }
      })
      yield* KeyChange.change(key.id, { plan: "Pro" })
      yield* TestClock.adjust(1)
      const rotated = yield* KeyLifecycle.rotate(key.id, 500).pipe(Effect.provideService(Actor, "ben"))
      yield* KeyStatus.unban(key.id)
      yield* TestClock.adjust(1)
      yield* KeyLifecycle.revoke(key.id)
      yield* KeyLifecycle.revoke(key.id)
      const second = yield* KeyLifecycle.issue({ plan: "Business" })
      const event = (ms: number, action: string, changes: object, actor = "ana") => ({
        at: START + ms,
        actor,
        keyId: key.id,
        action,
        changes
      })
      const events = yield* KeyStatus.log(key.id)
      expect(events).toEqual([
        event(0, "issued", {
          plan: { from: null, to: "Free" },
          perMinute: { from: null, to: 60 },
          perDay: { from: null, to: 1_000 },
          label: { from: null, to: "shop" },
          metadata: { from: null, to: '{"crm":[7]}' }
        }),
        event(1, "changed", {
          plan: { from: "Free", to: "Pro" },
          perMinute: { from: 60, to: 300 },
          perDay: { from: 1_000, to: 10_000 },
          label: { from: "shop", to: null },
          account: { from: null, to: "acme" },
          metadata: { from: '{"crm":[7]}', to: '{"crm":8}' },
          expiresAt: { from: null, to: START + 9_001 }
        }),
        event(2, "rotated", { oldKeyExpiresAt: { from: null, to: START + 502 } }, "ben"),
        event(2, "unbanned", {}),
        event(3, "revoked", { revokedAt: { from: null, to: START + 3 } })
      ])
      const all = yield* KeyStatus.log()
      expect(all.slice(0, 5)).toEqual(events)
      expect(all.slice(5)).toMatchObject([{ keyId: second.key.id, action: "issued" }])
      const text = JSON.stringify(all)
      for (const issued of [secret, rotated.secret])
        expect(text).not.toContain(Redacted.value(issued).slice(4, 31))
      expect(text).not.toMatch(/[0-9a-f]{64}/)
    }).pipe(Effect.provide(environment(fullStores)))
  )

  it.effect("returns the unban event even when the rate limit store then fails to lift the ban", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START)
      const { key } = yield* KeyLifecycle.issue(smallPlan)
      yield* ban(key)
      const { usage } = yield* KeyStatus.show(key.id)
      const failure = new StoreUnavailable({ retryable: true, cause: "down" })
      const store = yield* RateLimitStore
      const failed = yield* KeyStatus.unban(key.id).pipe(
        Effect.provideService(RateLimitStore, { ...store, modify: () => Effect.fail(failure) }),
        Effect.flip
      )
      expect(failed).toBe(failure)
      expect((yield* KeyStatus.show(key.id)).usage).toEqual(usage)
      expect((yield* KeyStatus.log()).at(-1)).toMatchObject({
        action: "unbanned",
        changes: { bannedUntil: { from: usage.bannedUntil, to: null } }
      })
    }).pipe(Effect.provide(environment(fullStores)))
  )

  it.effect("returns no events if the store does not record events", () =>
    Effect.gen(function* () {
      const { key } = yield* KeyLifecycle.issue({ plan: "Free" })
      expect(yield* KeyStatus.log()).toEqual([])
      expect(yield* KeyStatus.log(key.id)).toEqual([])
    }).pipe(Effect.provide(environment(minimalStores)))
  )

  it.effect('names the actor "unknown" if no actor is provided', () =>
    Effect.gen(function* () {
      yield* KeyLifecycle.issue({ plan: "Free" })
      expect((yield* KeyStatus.log()).map(({ actor }) => actor)).toEqual(["unknown"])
    }).pipe(Effect.provide(Layer.merge(fullStores, crypto)))
  )
})
