import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import * as MemoryApiKeyStore from "../../adapters/memory/MemoryApiKeyStore.ts"
import { keyOf } from "../../adapters/sql/ApiKeys.fixture.ts"
import { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as LastSeen from "./LastSeen.ts"

const DAY = 86_400_000
const a = keyOf("a", "hash a", 0)
const b = keyOf("b", "hash b", 0)

/** Creates a store with the keys a and b that records calls of `markSeen`; `isDown` makes them fail. */
const createStore = Effect.gen(function* () {
  const calls: Array<readonly [ids: ReadonlyArray<string>, day: number]> = []
  const state = { isDown: false }
  const scope = yield* Scope.make()
  const memory = yield* Layer.buildWithScope(Layer.fresh(MemoryApiKeyStore.layer), scope)
  const store = yield* Effect.provideContext(ApiKeyStore, memory)
  yield* store.insert(a)
  yield* store.insert(b)
  const recordingStore: ApiKeyStore["Service"] = {
    ...store,
    markSeen: (ids, day) => {
      calls.push([ids, day])
      return state.isDown
        ? Effect.fail(new StoreUnavailable({ retryable: true, cause: "down" }))
        : (store.markSeen?.(ids, day) ?? Effect.void)
    }
  }
  const layer = Layer.provide(LastSeen.layer, Layer.succeed(ApiKeyStore, recordingStore))
  const context = yield* Layer.buildWithScope(layer, scope)
  const note = yield* Effect.provideContext(LastSeen.LastSeen, context)
  return { calls, close: Scope.close(scope, Exit.void), note, state, store }
})

describe("LastSeen", () => {
  it.effect("stores the day with one call for 200 requests with two keys, and again on the next day", () =>
    Effect.gen(function* () {
      const { calls, note, store } = yield* createStore
      for (let request = 0; request < 100; request++) {
        note(a, 3 * DAY + request)
        note(b, 3 * DAY + request)
      }
      expect(calls).toEqual([])
      yield* TestClock.adjust("1 second")
      expect(calls).toEqual([[["a", "b"], 3]])
      expect((yield* store.list).map(({ lastSeenDay }) => lastSeenDay)).toEqual([3, 3])
      // If the store caches key records, requests may see records that are older than the stored ones.
      note(a, 4 * DAY - 1)
      yield* TestClock.adjust("1 minute")
      expect(calls).toHaveLength(1)
      note(a, 4 * DAY)
      yield* TestClock.adjust("1 second")
      expect(calls.slice(1)).toEqual([[["a"], 4]])
    })
  )

  it.effect("does not store the day again if the record has the same or a later day", () =>
    Effect.gen(function* () {
      const { calls, note } = yield* createStore
      note({ ...a, lastSeenDay: 3 }, 3 * DAY)
      note({ ...b, lastSeenDay: 4 }, 3 * DAY)
      yield* TestClock.adjust("1 minute")
      expect(calls).toEqual([])
    })
  )

  it.effect("stores the day of each request, even if the requests are just before and after midnight", () =>
    Effect.gen(function* () {
      const { calls, note } = yield* createStore
      note(a, 4 * DAY - 1)
      note(b, 4 * DAY)
      yield* TestClock.adjust("1 second")
      expect(calls).toEqual([
        [["a"], 3],
        [["b"], 4]
      ])
    })
  )

  it.effect("stores the noted days when it closes, and ignores later requests", () =>
    Effect.gen(function* () {
      const { calls, close, note } = yield* createStore
      note(a, 3 * DAY)
      yield* close
      expect(calls).toEqual([[["a"], 3]])
      note(b, 3 * DAY)
      yield* TestClock.adjust("1 minute")
      expect(calls).toHaveLength(1)
    })
  )

  it.effect("stores the day after the next request with the key if the store failed before", () =>
    Effect.gen(function* () {
      const { calls, close, note, state, store } = yield* createStore
      state.isDown = true
      note(a, 3 * DAY)
      yield* TestClock.adjust("1 minute")
      expect(calls).toHaveLength(1)
      note(a, 3 * DAY)
      state.isDown = false
      yield* TestClock.adjust("1 second")
      expect(calls).toHaveLength(2)
      expect((yield* store.list)[0]?.lastSeenDay).toBe(3)
      state.isDown = true
      note(b, 3 * DAY)
      yield* close
    })
  )

  it.effect("collects at most 10,000 keys between two writes", () =>
    Effect.gen(function* () {
      const { calls, note } = yield* createStore
      for (let index = 0; index < 25_000; index++) note({ ...a, id: `key ${index}` }, 3 * DAY)
      yield* TestClock.adjust("1 second")
      expect(calls.map(([ids]) => ids.length)).toEqual([10_000])
    })
  )

  it.effect("records nothing in a store without `markSeen`", () =>
    Effect.gen(function* () {
      const { store } = yield* createStore
      const { markSeen: _, ...storeWithoutMarkSeen } = store
      const note = yield* LastSeen.LastSeen.pipe(
        Effect.provide(Layer.provide(LastSeen.layer, Layer.succeed(ApiKeyStore, storeWithoutMarkSeen)))
      )
      note(a, 3 * DAY)
      yield* TestClock.adjust("1 minute")
      expect((yield* store.list)[0]?.lastSeenDay).toBeUndefined()
    })
  )
})
