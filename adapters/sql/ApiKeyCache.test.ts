import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import * as ApiKey from "../../core/access/ApiKey.ts"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import * as MemoryApiKeyStore from "../memory/MemoryApiKeyStore.ts"
import * as ApiKeyCache from "./ApiKeyCache.ts"
import { keyOf } from "./ApiKeys.fixture.ts"

const CACHE_MS = 5_000

/** Creates the store behind the caches: it records lookups, and a test can delay or fail its calls. */
const makeStore = Effect.gen(function* () {
  const store = Context.get(yield* Layer.build(Layer.fresh(MemoryApiKeyStore.layer)), ApiKeyStore)
  const lookups: Array<string> = []
  /** Delays of a lookup after its read, and of an update before and after its write. */
  const delay: {
    findByHash: Effect.Effect<void, StoreUnavailable>
    beforeUpdate: Effect.Effect<void>
    afterUpdate: Effect.Effect<void, StoreUnavailable>
  } = { findByHash: Effect.void, beforeUpdate: Effect.void, afterUpdate: Effect.void }
  const recordingStore: ApiKeyStore["Service"] = {
    ...store,
    findByHash: (hash) =>
      Effect.suspend(() => {
        lookups.push(hash)
        const { findByHash } = delay
        return Effect.tap(store.findByHash(hash), () => findByHash)
      }),
    update: (id, change) =>
      Effect.suspend(() =>
        Effect.andThen(
          delay.beforeUpdate,
          Effect.tap(store.update(id, change), () => delay.afterUpdate)
        )
      )
  }
  const openNode = (cacheMs = CACHE_MS) =>
    Effect.map(
      Layer.build(Layer.provide(ApiKeyCache.layer(cacheMs), Layer.succeed(ApiKeyStore, recordingStore))),
      (context) => Context.get(context, ApiKeyStore)
    )
  return { lookups, delay, openNode, store }
})

const key = keyOf("a", "hash", 0)

const revoke = (store: ApiKeyStore["Service"], id = "a") =>
  store.update(id, (before) => [undefined, ApiKey.revoke(before, 1)])

const isRevoked = (found: Option.Option<ApiKey.ApiKey>): boolean | undefined =>
  Option.getOrUndefined(Option.map(found, ({ revokedAt }) => revokedAt !== undefined))

describe("ApiKeyCache", () => {
  it.effect("looks up a key once per cache time, exact to the millisecond", () =>
    Effect.gen(function* () {
      const { lookups, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      yield* store.insert(key)
      for (let round = 1; round <= 3; round++) {
        for (const pause of [0, 1, CACHE_MS - 2]) {
          yield* TestClock.adjust(pause)
          expect(yield* cached.findByHash("hash")).toEqual(Option.some(key))
          expect(lookups).toHaveLength(round)
        }
        yield* TestClock.adjust(1)
      }
    })
  )

  it.effect("looks up a key on every call if the cache time is 0", () =>
    Effect.gen(function* () {
      const { lookups, openNode, store } = yield* makeStore
      const cached = yield* openNode(0)
      yield* store.insert(key)
      for (let round = 1; round <= 3; round++) {
        yield* cached.findByHash("hash")
        expect(lookups).toHaveLength(round)
      }
    })
  )

  it.effect("does not cache unknown hashes, so a new key is found immediately", () =>
    Effect.gen(function* () {
      const { lookups, openNode } = yield* makeStore
      const [nodeA, nodeB] = [yield* openNode(), yield* openNode()]
      for (const cached of [nodeA, nodeA, nodeB]) {
        expect(yield* cached.findByHash("hash")).toEqual(Option.none())
      }
      expect(lookups).toHaveLength(3)
      expect(yield* nodeA.insertFirst(key)).toBe(true)
      for (const cached of [nodeA, nodeB]) expect(yield* cached.findByHash("hash")).toEqual(Option.some(key))
      yield* nodeB.insert(keyOf("b", "other", 0))
      for (const cached of [nodeA, nodeB]) {
        expect(Option.isSome(yield* cached.findByHash("other"))).toBe(true)
      }
    })
  )

  it.effect("caches neither failures nor defects", () =>
    Effect.gen(function* () {
      const { lookups, delay, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      yield* store.insert(key)
      const down = new StoreUnavailable({ retryable: true, cause: "down" })
      delay.findByHash = Effect.fail(down)
      expect(yield* Effect.flip(cached.findByHash("hash"))).toBe(down)
      delay.findByHash = Effect.die("a bug")
      expect(Exit.isFailure(yield* Effect.exit(cached.findByHash("hash")))).toBe(true)
      delay.findByHash = Effect.void
      expect(yield* cached.findByHash("hash")).toEqual(Option.some(key))
      expect(lookups).toHaveLength(3)
    })
  )

  it.effect("caches at most 10,000 keys, and evicts the key that was queried first", () =>
    Effect.gen(function* () {
      const { lookups, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      const find = (index: number) => cached.findByHash(`hash ${index}`)
      for (let index = 0; index <= 10_000; index++) yield* store.insert(keyOf(`${index}`, `hash ${index}`, 0))
      for (let index = 0; index < 10_000; index++) yield* find(index)
      yield* find(0)
      expect(lookups).toHaveLength(10_000)
      for (let index = 0; index < 100; index++) yield* cached.findByHash(`unknown ${index}`)
      lookups.length = 0
      for (const index of [10_000, 1, 10_000, 0, 10_000]) yield* find(index)
      expect(lookups).toEqual(["hash 10000", "hash 0"])
    })
  )

  it.effect("keeps a cached key when an update changes nothing, and removes it when an update fails", () =>
    Effect.gen(function* () {
      const { lookups, delay, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      yield* store.insert(key)
      yield* cached.findByHash("hash")
      yield* cached.update("a", (current) => [current, current])
      yield* cached.update("none", (before) => [before, { ...before }])
      yield* cached.markSeen?.(["a"], 5) ?? Effect.void
      yield* cached.findByHash("hash")
      expect(lookups).toHaveLength(1)
      delay.afterUpdate = Effect.fail(new StoreUnavailable({ retryable: true, cause: "down" }))
      yield* Effect.flip(cached.update("a", (current) => [current, current]))
      yield* cached.findByHash("hash")
      expect(lookups).toHaveLength(2)
    })
  )

  it.effect("returns a change by another node within the cache time", () =>
    Effect.gen(function* () {
      const { openNode, store } = yield* makeStore
      const [nodeA, nodeB] = [yield* openNode(), yield* openNode()]
      yield* store.insert(key)
      yield* nodeA.findByHash("hash")
      yield* TestClock.adjust(1)
      yield* revoke(nodeB)
      expect(isRevoked(yield* nodeB.findByHash("hash"))).toBe(true)
      // A lookup does not extend the cache time.
      for (let ms = 0; ms < CACHE_MS - 1; ms += 833) {
        expect(isRevoked(yield* nodeA.findByHash("hash"))).toBe(false)
        yield* TestClock.adjust(833)
      }
      yield* TestClock.adjust(1)
      expect(isRevoked(yield* nodeA.findByHash("hash"))).toBe(true)
    })
  )

  it.effect("starts the cache time when a lookup starts, not when it ends", () =>
    Effect.gen(function* () {
      const { delay, openNode, store } = yield* makeStore
      const [nodeA, nodeB] = [yield* openNode(), yield* openNode()]
      yield* store.insert(key)
      delay.findByHash = Effect.sleep(900)
      const slowLookup = yield* Effect.forkChild(nodeA.findByHash("hash"))
      yield* TestClock.adjust(1)
      delay.findByHash = Effect.void
      yield* revoke(nodeB)
      yield* TestClock.adjust(899)
      expect(isRevoked(yield* Fiber.join(slowLookup))).toBe(false)
      yield* TestClock.adjust(CACHE_MS - 900)
      expect(isRevoked(yield* nodeA.findByHash("hash"))).toBe(true)
    })
  )

  it.effect("does not extend the cache time when the wall clock is set back", () =>
    Effect.gen(function* () {
      const { openNode, store } = yield* makeStore
      const [nodeA, nodeB] = [yield* openNode(), yield* openNode()]
      yield* TestClock.setTime(3_600_000)
      yield* store.insert(key)
      yield* nodeA.findByHash("hash")
      yield* revoke(nodeB)
      yield* TestClock.setTime(0)
      yield* TestClock.adjust(CACHE_MS)
      expect(isRevoked(yield* nodeA.findByHash("hash"))).toBe(true)
    })
  )

  it.effect("returns a change by the same node immediately, for every secret of the key", () =>
    Effect.gen(function* () {
      const { openNode, store } = yield* makeStore
      const cached = yield* openNode()
      const [secret] = key.secrets
      if (secret === undefined) throw new Error("the key has no secret")
      yield* store.insert({ ...key, secrets: [secret, { ...secret, hash: "second" }] })
      for (const hash of ["hash", "second"]) yield* cached.findByHash(hash)
      expect(Option.isSome(yield* revoke(cached))).toBe(true)
      for (const hash of ["hash", "second"]) {
        expect(isRevoked(yield* cached.findByHash(hash))).toBe(true)
      }
    })
  )

  it.effect("does not cache the stale key of a lookup that started before a change", () =>
    Effect.gen(function* () {
      const { delay, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      yield* store.insert(key)
      const respond = yield* Deferred.make<void>()
      delay.findByHash = Deferred.await(respond)
      const slowLookup = yield* Effect.forkChild(cached.findByHash("hash"), { startImmediately: true })
      delay.findByHash = Effect.void
      yield* revoke(cached)
      expect(isRevoked(yield* cached.findByHash("hash"))).toBe(true)
      yield* Deferred.succeed(respond, undefined)
      // The slow lookup read the key before the change.
      expect(isRevoked(yield* Fiber.join(slowLookup))).toBe(false)
      expect(isRevoked(yield* cached.findByHash("hash"))).toBe(true)
    })
  )

  it.effect("does not replace a key with the stale one of a lookup that started earlier", () =>
    Effect.gen(function* () {
      const { delay, openNode, store } = yield* makeStore
      const [nodeA, nodeB] = [yield* openNode(), yield* openNode()]
      yield* store.insert(key)
      const respond = yield* Deferred.make<void>()
      delay.findByHash = Deferred.await(respond)
      const slowLookup = yield* Effect.forkChild(nodeA.findByHash("hash"), { startImmediately: true })
      delay.findByHash = Effect.void
      yield* TestClock.adjust(1)
      yield* revoke(nodeB)
      expect(isRevoked(yield* nodeA.findByHash("hash"))).toBe(true)
      yield* Deferred.succeed(respond, undefined)
      expect(isRevoked(yield* Fiber.join(slowLookup))).toBe(false)
      expect(isRevoked(yield* nodeA.findByHash("hash"))).toBe(true)
    })
  )

  it.effect("does not cache the stale key of a lookup that started during a change", () =>
    Effect.gen(function* () {
      const { delay, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      yield* store.insert(key)
      yield* cached.findByHash("hash")
      for (const moment of ["beforeUpdate", "afterUpdate"] as const) {
        const proceed = yield* Deferred.make<void>()
        delay[moment] = Deferred.await(proceed)
        const update = cached.update("a", (before) => [undefined, { ...before, label: moment }])
        const change = yield* Effect.forkChild(update, { startImmediately: true })
        yield* cached.findByHash("hash")
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(change)
        expect(Option.getOrUndefined(yield* cached.findByHash("hash"))?.label).toBe(moment)
      }
    })
  )

  it.effect(
    "removes a key from the cache after a failed or interrupted change, which may have been stored",
    () =>
      Effect.gen(function* () {
        const { delay, openNode, store } = yield* makeStore
        const cached = yield* openNode()
        yield* store.insert(key)
        yield* cached.findByHash("hash")
        delay.afterUpdate = Effect.never
        const change = yield* Effect.forkChild(revoke(cached), { startImmediately: true })
        yield* Fiber.interrupt(change)
        expect(isRevoked(yield* cached.findByHash("hash"))).toBe(true)

        yield* store.insert(keyOf("b", "other", 0))
        yield* cached.findByHash("other")
        delay.afterUpdate = Effect.die("a bug")
        yield* Effect.exit(revoke(cached, "b"))
        expect(isRevoked(yield* cached.findByHash("other"))).toBe(true)
      })
  )

  it.effect("looks up a key again after an interrupted lookup", () =>
    Effect.gen(function* () {
      const { lookups, delay, openNode, store } = yield* makeStore
      const cached = yield* openNode()
      yield* store.insert(key)
      delay.findByHash = Effect.never
      yield* Fiber.interrupt(yield* Effect.forkChild(cached.findByHash("hash"), { startImmediately: true }))
      delay.findByHash = Effect.void
      expect(yield* cached.findByHash("hash")).toEqual(Option.some(key))
      expect(lookups).toHaveLength(2)
    })
  )
})
