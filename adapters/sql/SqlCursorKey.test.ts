import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Cursor from "../../core/codec/Cursor.ts"
import { type AnimalStore, openAnimalStore } from "../embed/AnimalStore.ts"
import { type Database, describeOn, kinds } from "./Databases.fixture.ts"
import { openClient, openNode } from "./Nodes.fixture.ts"

const openNodeKey = (database: Database) =>
  Effect.map(Effect.scoped(openNode(database)), (node) => {
    const key = Context.get(node, Cursor.SharedKey)
    if (key === undefined) throw new Error("the database has no cursor key")
    return Buffer.from(key).toString("hex")
  })

const openStore = (database: Database): Effect.Effect<AnimalStore> =>
  Effect.promise(() => openAnimalStore({ database: database.address, databaseTimeoutMs: 20_000 }))

const close = (store: AnimalStore) => Effect.promise(() => store.close())

const get = (store: AnimalStore, key: string, target: string): Effect.Effect<Response> =>
  Effect.promise(() =>
    store.fetch(new Request(`http://store.test${target}`, { headers: { Authorization: `Bearer ${key}` } }))
  )

const create = (store: AnimalStore, key: string, name: string): Effect.Effect<Response> =>
  Effect.promise(() =>
    store.fetch(
      new Request("http://store.test/v1/pets", {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ name, categoryId: 1 })
      })
    )
  )

const names = (response: Response): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    Effect.promise(() => response.text()),
    (pets) => Array.from(pets.matchAll(/"name":"(\w)"/g), ([, name = ""]) => name)
  )

const nextOf = (response: Response): string =>
  /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1] ?? "the response has no next page"

for (const kind of kinds) {
  describeOn(kind, "SqlCursorKey", () => {
    it.live(
      "returns the same key to all nodes of a database, whether they open it concurrently or later",
      () =>
        Effect.gen(function* () {
          const database = yield* kind.create
          const keys = yield* Effect.all(
            Array.from({ length: 10 }, () => openNodeKey(database)),
            { concurrency: "unbounded" }
          )
          expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
          expect(new Set([...keys, yield* openNodeKey(database)]).size).toBe(1)
        })
    )

    it.live("creates different keys for two databases", () =>
      Effect.gen(function* () {
        const keys = [yield* openNodeKey(yield* kind.create), yield* openNodeKey(yield* kind.create)]
        expect(keys[0]).not.toBe(keys[1])
      })
    )

    it.live("rejects a database with a corrupted key", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        yield* openNodeKey(database)
        const sql = yield* openClient(database)
        yield* sql`UPDATE settings SET value = 'no hexadecimal' WHERE name = 'cursor_key'`
        const error = yield* Effect.flip(openNodeKey(database))
        expect(error.message).toBe("database: the setting cursor_key is not hexadecimal")
      })
    )

    it.live("keeps cursors valid on other nodes and after a restart", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const [nodeA, nodeB] = [yield* openStore(database), yield* openStore(database)]
        const { key } = yield* Effect.promise(() => nodeA.keys.issue({ plan: "Pro" }))
        for (const name of ["a", "b", "c"]) {
          expect((yield* create(nodeA, key, name)).status).toBe(201)
        }
        const first = yield* get(nodeA, key, "/v1/pets?limit=1&status=available")
        expect(yield* names(first)).toEqual(["a"])
        const second = yield* get(nodeB, key, nextOf(first))
        expect(yield* names(second)).toEqual(["b"])
        yield* close(nodeA)
        yield* close(nodeB)

        const reopened = yield* openStore(database)
        const third = yield* get(reopened, key, nextOf(second))
        expect(yield* names(third)).toEqual(["c"])
        expect(third.headers.get("Link")).toBeNull()
        yield* close(reopened)
      })
    )

    it.live("rejects a cursor from another database with 400", () =>
      Effect.gen(function* () {
        const [store, otherStore] = [
          yield* openStore(yield* kind.create),
          yield* openStore(yield* kind.create)
        ]
        const { key } = yield* Effect.promise(() => otherStore.keys.issue({ plan: "Pro" }))
        const ownKey = yield* Effect.promise(() => store.keys.issue({ plan: "Pro" }))
        for (const name of ["a", "b"]) yield* create(store, ownKey.key, name)
        const cursor = nextOf(yield* get(store, ownKey.key, "/v1/pets?limit=1"))
        expect(cursor).toContain("cursor=")
        expect((yield* get(otherStore, key, cursor)).status).toBe(400)
        yield* close(store)
        yield* close(otherStore)
      })
    )
  })
}
