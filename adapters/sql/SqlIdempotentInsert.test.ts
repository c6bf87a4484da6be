/** Tests what the laws of `Idempotency-Key` do not cover: a key in use, a locked table, and expired records. */
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Once from "../../core/idempotency/Once.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { type Database, describeOn, kinds, postgres, postgresStores } from "./Databases.fixture.ts"
import { openClient, openNode, whileLocked } from "./Nodes.fixture.ts"

const rex = { name: "Rex", categoryId: 1n, status: "available" } as const

const NOON = 1_800_000_000_000

const once = (key: string, now = NOON): Once.Once => ({
  caller: "key_a",
  key,
  fingerprint: "f".repeat(64),
  now
})

/** Returns the `insertOnce` of a new node. */
const openInsertOnce = Effect.fnUntraced(function* (...node: Parameters<typeof openNode>) {
  const { insertOnce } = Context.get(yield* openNode(...node), PetRepository)
  if (insertOnce === undefined) throw new Error("the repository has no insertOnce")
  return insertOnce
})

/** Returns the database with a default lock_timeout, which a role or a database can have. */
const withLockTimeout = (database: Database, lockTimeout: string): Database => {
  const url = new URL(database.address)
  url.searchParams.set("options", `${url.searchParams.get("options")} -clock_timeout=${lockTimeout}`)
  return { ...database, address: url.href, stores: (options) => postgresStores(url.href, options) }
}

describeOn(postgres, "an insert with a key in use", () => {
  it.live("returns InProgress immediately, stores nothing and affects no other key", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const database = yield* postgres.create
        const insertOnce = yield* openInsertOnce(database)
        const sql = yield* openClient(database)
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${"key_a"} || chr(10) || ${"held"}, 6))`
            const [held, other] = yield* Effect.all(
              [insertOnce(rex, once("held")), insertOnce(rex, once("b"))],
              {
                concurrency: "unbounded"
              }
            )
            expect([held._tag, other._tag]).toEqual(["InProgress", "Inserted"])
          })
        )
        expect((yield* insertOnce(rex, once("held")))._tag).toBe("Inserted")
      })
    )
  )
})

describeOn(postgres, "many inserts with the same key", () => {
  it.live("wait for the first one, and not for each other", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const insertOnce = yield* openInsertOnce(yield* postgres.create, { timeoutMs: 10_000 })
        const repeated = Array.from({ length: 200 }, () => insertOnce(rex, once("a")))
        const outcomes = yield* Effect.all(repeated, { concurrency: "unbounded" })
        expect(outcomes.map(({ _tag }) => _tag).sort()).toEqual([
          "Inserted",
          ...new Array(199).fill("Replayed")
        ])
      })
    )
  )
})

describeOn(postgres, "an insert into a locked table", () => {
  it.live("fails with StoreUnavailable", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const database = yield* postgres.create
        const insertOnce = yield* openInsertOnce(database, { timeoutMs: 1_000 })
        const sql = yield* openClient(database)
        for (const table of ["pets", "idempotent_inserts"]) {
          const error = yield* whileLocked(sql, table, Effect.flip(insertOnce(rex, once(table))))
          expect(error._tag).toBe("StoreUnavailable")
        }
      })
    )
  )
})

describeOn(postgres, "an insert into a locked table with a lock_timeout of the session", () => {
  it.live("fails with StoreUnavailable, because its key is not in use", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const database = yield* postgres.create
        const insertOnce = yield* openInsertOnce(withLockTimeout(database, "200ms"), { timeoutMs: 5_000 })
        const sql = yield* openClient(database)
        for (const table of ["pets", "idempotent_inserts"]) {
          const error = yield* whileLocked(sql, table, Effect.flip(insertOnce(rex, once(table))))
          expect(error).toMatchObject({
            _tag: "StoreUnavailable",
            cause: { reason: { _tag: "LockTimeoutError" } }
          })
          expect((yield* insertOnce(rex, once(table)))._tag).toBe("Inserted")
        }
      })
    )
  )
})

for (const kind of kinds) {
  describeOn(kind, "records of idempotent inserts", () => {
    it.live("are deleted after their expiry at least as fast as new ones are added", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const database = yield* kind.create
          const insertOnce = yield* openInsertOnce(database)
          const sql = yield* openClient(database)
          const count = Effect.map(
            sql<{ readonly n: unknown }>`SELECT count(*) AS n FROM idempotent_inserts`,
            ([row]) => Number(row?.n)
          )
          for (let index = 0; index < 20; index++) yield* insertOnce(rex, once(`old-${index}`))
          expect(yield* count).toBe(20)
          const tomorrow = NOON + Once.RETENTION_MS
          for (let index = 0; index < 5; index++) yield* insertOnce(rex, once(`new-${index}`, tomorrow))
          expect(yield* count).toBe(5)
          expect((yield* insertOnce(rex, once("old-0", tomorrow)))._tag).toBe("Inserted")
        })
      )
    )
  })
}
