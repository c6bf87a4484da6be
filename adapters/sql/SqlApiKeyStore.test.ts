import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { keyOf } from "./ApiKeys.fixture.ts"
import { type Database, describeOn, kinds } from "./Databases.fixture.ts"
import { longTimeout, openClient, openNodes, whileLocked } from "./Nodes.fixture.ts"

const openStores = (database: Database, count: number, keyCacheMs = 0) =>
  Effect.map(openNodes(database, count, { ...longTimeout, keyCacheMs }), (nodes) =>
    nodes.map((node) => Context.get(node, ApiKeyStore))
  )

/** The exit of a call with a value that the database rejects. */
const rejectedValue = { _tag: "Failure", cause: { reasons: [{ _tag: "Die", defect: { _tag: "SqlError" } }] } }

for (const kind of kinds) {
  describeOn(kind, "SqlApiKeyStore", () => {
    it.live("runs concurrent updates of one key on several nodes in sequence", () =>
      Effect.gen(function* () {
        const stores = yield* openStores(yield* kind.create, 3)
        yield* Effect.forEach(stores.slice(0, 1), (store) => store.insert(keyOf("a", "hash", 0)))
        const results = yield* Effect.forEach(
          Array.from({ length: 20 }, () => stores).flat(),
          (store) => store.update("a", (key) => [key.createdAt, { ...key, createdAt: key.createdAt + 1 }]),
          { concurrency: "unbounded" }
        )
        const counts = results.map(Option.getOrUndefined).sort((a = -1, b = -1) => a - b)
        expect(counts).toEqual(Array.from({ length: 60 }, (_, index) => index))
        for (const store of stores) {
          expect(Option.getOrUndefined(yield* store.findByHash("hash"))?.createdAt).toBe(60)
        }
      })
    )

    it.live("inserts the first key in only one of ten concurrent calls on two nodes", () =>
      Effect.gen(function* () {
        for (let round = 0; round < 2; round++) {
          const stores = yield* openStores(yield* kind.create, 2)
          const callingStores = Array.from({ length: 5 }, () => stores).flat()
          const added = yield* Effect.forEach(
            callingStores,
            (store, index) => store.insertFirst(keyOf(`key ${index}`, `hash ${index}`, index)),
            { concurrency: "unbounded" }
          )
          expect(added.filter((isFirst) => isFirst)).toHaveLength(1)
          const first = added.indexOf(true)
          for (const store of stores) {
            expect(yield* store.list).toEqual([keyOf(`key ${first}`, `hash ${first}`, first)])
            expect(yield* store.insertFirst(keyOf("late", "late", 0))).toBe(false)
          }
        }
      })
    )

    it.live("returns inserted and changed keys on other nodes immediately without a cache", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const [store, ...otherStores] = yield* openStores(database, 3)
        if (store === undefined) throw new Error("a node is missing")
        const key = keyOf("a", "hash", 0)
        yield* store.insert(key)
        for (const other of otherStores) expect(yield* other.findByHash("hash")).toEqual(Option.some(key))
        yield* store.update("a", (before) => [undefined, { ...before, revokedAt: 5 }])
        for (const other of otherStores) {
          expect(Option.getOrUndefined(yield* other.findByHash("hash"))?.revokedAt).toBe(5)
        }
      })
    )

    it.live("waits with an update while another writer locks the database, but reads the old key", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const [store] = yield* openStores(database, 1)
        if (store === undefined) throw new Error("a node is missing")
        yield* store.insert(keyOf("a", "hash", 0))
        const change = yield* whileLocked(
          yield* openClient(database),
          "api_keys",
          Effect.gen(function* () {
            const update = store.update("a", (key) => ["changed", { ...key, revokedAt: 5 }])
            const change = yield* Effect.forkChild(update, { startImmediately: true })
            yield* Effect.sleep(150)
            expect(change.pollUnsafe()).toBeUndefined()
            expect(Option.getOrUndefined(yield* store.findByHash("hash"))?.revokedAt).toBeUndefined()
            return change
          })
        )
        expect(yield* Fiber.join(change)).toEqual(Option.some("changed"))
        expect(Option.getOrUndefined(yield* store.findByHash("hash"))?.revokedAt).toBe(5)
      })
    )

    it.live("stores the latest day when several nodes mark the same keys as seen concurrently", () =>
      Effect.gen(function* () {
        const stores = yield* openStores(yield* kind.create, 3)
        const ids = Array.from({ length: 50 }, (_, index) => `key ${index}`)
        for (const [index, id] of ids.entries())
          yield* stores[0]?.insert(keyOf(id, `hash ${id}`, index)) ?? Effect.void
        yield* Effect.forEach(
          Array.from({ length: 12 }, (_, day) => day),
          (day) => stores[day % 3]?.markSeen?.(day % 2 === 0 ? ids : ids.toReversed(), day) ?? Effect.void,
          { concurrency: "unbounded", discard: true }
        )
        for (const store of stores) {
          expect(new Set((yield* store.list).map(({ lastSeenDay }) => lastSeenDay))).toEqual(new Set([11]))
        }
      })
    )

    it.live("records an event if and only if its change is stored", () =>
      Effect.gen(function* () {
        const [store] = yield* openStores(yield* kind.create, 1)
        if (store?.events === undefined) throw new Error("a node is missing")
        const event = (keyId: string, at: number): KeyEvent => ({
          ...{ at, actor: "ana", keyId, action: "issued", changes: {} }
        })
        const b = keyOf("b", "hash b", 0)
        yield* store.insert(keyOf("a", "hash a", 0), event("a", 1))
        yield* store.insert(b, event("b", 2))
        const failingCalls = [
          store.insert(keyOf("c", "hash a", 0), event("c", 3)),
          store.update("a", (key) => [0, { ...key, secrets: b.secrets }, event("a", 4)])
        ]
        for (const call of failingCalls) expect(yield* Effect.exit(call)).toMatchObject(rejectedValue)
        yield* Effect.exit(
          store.update("a", () => {
            throw new Error("a bug")
          })
        )
        expect(yield* store.events()).toEqual([event("a", 1), event("b", 2)])
      })
    )

    it.live("rejects a change with an existing hash or id, and stores nothing", () =>
      Effect.gen(function* () {
        const [store] = yield* openStores(yield* kind.create, 1)
        if (store === undefined) throw new Error("a node is missing")
        const a = keyOf("a", "hash a", 0)
        const b = keyOf("b", "hash b", 1)
        yield* store.insert(a)
        yield* store.insert(b)
        const [existing] = a.secrets
        if (existing === undefined) throw new Error("the key has no secret")
        const withTakenHash = {
          ...keyOf("c", "hash c", 2),
          secrets: [...keyOf("c", "hash c", 2).secrets, existing]
        }
        const rejections = [
          store.insert(keyOf("c", "hash a", 2)),
          store.insert(withTakenHash),
          store.insert(keyOf("a", "hash d", 2)),
          store.update("b", (key) => [
            undefined,
            { ...key, label: "changed", secrets: withTakenHash.secrets }
          ])
        ]
        for (const rejection of rejections) {
          expect(yield* Effect.exit(rejection)).toMatchObject(rejectedValue)
          expect(yield* store.list).toEqual([a, b])
        }
        for (const hash of ["hash c", "hash d"]) {
          expect(yield* store.findByHash(hash)).toEqual(Option.none())
        }
      })
    )
  })
}
