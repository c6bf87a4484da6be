/** Tests concurrent calls to PostgreSQL: they share statements, and a rejected call does not affect the others. */
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { CallObserver } from "../storage/CallObserver.ts"
import * as ApiKeys from "./ApiKeys.fixture.ts"
import * as Databases from "./Databases.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as Postgres from "./Postgres.ts"

/** Opens a node, and records the number of calls in each of its statements. */
const setUp = Effect.fnUntraced(function* (options: { timeoutMs?: number; connections?: number } = {}) {
  const database = yield* Databases.postgres.create
  let batches: Array<number> = []
  const services = yield* Layer.build(
    Postgres.layer({
      ...Nodes.longTimeout,
      keyCacheMs: 0,
      ...options,
      url: Redacted.make(database.address)
    }).pipe(Layer.provide(SecureRandom.layerWebCrypto))
  ).pipe(
    Effect.provideService(CallObserver, {
      observe: () => (call) => call,
      committed: (calls) => {
        batches.push(calls)
      }
    })
  )
  /** Returns the number of calls in each statement since `sizes` was last called. */
  const sizes = () => {
    const latest = batches
    batches = []
    return latest
  }
  return {
    pets: Context.get(services, PetRepository),
    limits: Context.get(services, RateLimitStore),
    keys: Context.get(services, ApiKeyStore),
    sizes,
    sql: yield* Nodes.openClient(database)
  }
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const rex: NewPet = { name: "Rex", categoryId: 7n, status: "available" }

const statuses = ["available", "pending", "sold", undefined] as const

const concurrently = { concurrency: "unbounded" } as const

Databases.describeOn(Databases.postgres, "PostgresBatch", () => {
  it.live(
    "executes concurrent calls of one kind in one statement, with the same results as single calls",
    () =>
      Effect.gen(function* () {
        const { keys, pets, sizes } = yield* setUp()
        const added = yield* Effect.forEach(
          numbers(60),
          (index) =>
            pets.insert({ ...rex, categoryId: BigInt(index), status: statuses[index % 3] ?? "available" }),
          concurrently
        )
        expect(sizes()).toEqual([60])
        expect(added.map(({ categoryId }) => categoryId)).toEqual(numbers(60).map(BigInt))
        // The ids are assigned in the order of the calls.
        expect(added.map(({ id }) => id)).toEqual(numbers(60).map((index) => BigInt(index + 1)))

        const ids = [5n, 60n, 5n, 61n, -1n, 1n]
        const found = yield* Effect.forEach(ids, pets.find, concurrently)
        expect(sizes()).toEqual([6])
        expect(found).toEqual(ids.map((id) => Option.fromUndefinedOr(added.find((pet) => pet.id === id))))

        const queries: ReadonlyArray<PageQuery> = [1, 3, 21].flatMap((limit) =>
          statuses.flatMap((status) => [undefined, 30n, 59n, 30n].map((after) => ({ limit, status, after })))
        )
        const pages = yield* Effect.forEach(queries, pets.page, concurrently)
        expect(sizes()).toEqual([48])
        expect(pages).toEqual(
          queries.map(({ after = 0n, limit, status }) =>
            added
              .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
              .slice(0, limit)
          )
        )

        const stored = [ApiKeys.keyOf("one", "hash one", 1), ApiKeys.keyOf("two", "hash two", 2)]
        for (const key of stored) yield* keys.insert(key)
        const hashes = [...stored, ...stored].flatMap(({ secrets }) => secrets.map(({ hash }) => hash))
        const foundKeys = yield* Effect.forEach([...hashes, "none"], keys.findByHash, concurrently)
        expect(sizes()).toEqual([hashes.length + 1])
        expect(foundKeys).toEqual(
          [...hashes, "none"].map((hash) =>
            Option.fromUndefinedOr(
              stored.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
            )
          )
        )
      })
  )

  it.live("fails only the call whose value the database or the driver rejects", () =>
    Effect.gen(function* () {
      const { pets } = yield* setUp()
      const invalid = new Map<number, NewPet>([
        [3, { ...rex, name: "\u0000" }],
        [17, { ...rex, categoryId: 2n ** 63n }]
      ])
      const exits = yield* Effect.forEach(
        numbers(40),
        (index) => Effect.exit(pets.insert(invalid.get(index) ?? { ...rex, categoryId: BigInt(index) })),
        concurrently
      )
      expect(exits.flatMap((exit, index) => (Exit.isFailure(exit) ? [index] : []))).toEqual([3, 17])
      const stored = yield* pets.page({ limit: 100, after: undefined, status: undefined })
      expect(stored).toEqual(exits.filter(Exit.isSuccess).map(({ value }) => value))

      const found = yield* Effect.forEach(
        [stored[0]?.id ?? 0n, 2n ** 63n, 0n],
        (id) => Effect.exit(pets.find(id)),
        concurrently
      )
      expect(found.map(Exit.isSuccess)).toEqual([true, false, true])
    })
  )

  it.live("reads all animals that were acknowledged before the read started", () =>
    Effect.gen(function* () {
      const { pets, sizes } = yield* setUp()
      const writer = Effect.fnUntraced(function* (index: number) {
        for (const round of numbers(30)) {
          const pet = yield* pets.insert({ ...rex, categoryId: BigInt(index * 1_000 + round) })
          // Other writers send the same kind of query, which may already be in progress.
          const newest = { limit: 100, status: undefined, after: pet.id - 1n }
          const [found, page] = yield* Effect.all([pets.find(pet.id), pets.page(newest)], concurrently)
          expect(found).toEqual(Option.some(pet))
          expect(page[0]).toEqual(pet)
          const count = (yield* pets.page({ limit: 1_000, status: undefined, after: undefined })).length
          expect(count).toBeGreaterThanOrEqual(Number(pet.id) - 20)
        }
      })
      yield* Effect.forEach(numbers(20), writer, concurrently)
      expect(Math.max(...sizes())).toBeGreaterThan(5)
    })
  )

  it.live("does not starve transactions when concurrent reads share a single connection", () =>
    Effect.gen(function* () {
      const { keys, pets } = yield* setUp({ connections: 1, timeoutMs: 5_000 })
      yield* keys.insert(ApiKeys.keyOf("one", "hash one", 1))
      let isOver = false
      const load = yield* Effect.forkChild(
        Effect.forEach(
          numbers(64),
          () => Effect.whileLoop({ while: () => !isOver, body: () => pets.find(1n), step: () => {} }),
          concurrently
        )
      )
      for (const perMinute of [1, 2, 3, 4, 5]) {
        yield* keys.update("one", (key) => [undefined, { ...key, limits: { ...key.limits, perMinute } }])
      }
      isOver = true
      yield* Fiber.join(load)
    })
  )
})

const policy: RateLimit.Policy = { plan: { perMinute: 1_000, perDay: 10_000 }, ban: undefined }

Databases.describeOn(Databases.postgres, "a locked rate-limit row", () => {
  /** Locks the row of a caller; `unlock` releases it. */
  const lockRow = Effect.fnUntraced(function* (timeoutMs: number) {
    const { limits, sizes, sql } = yield* setUp({ timeoutMs })
    const { consume } = limits
    if (consume === undefined) throw new Error("the store has no consume")
    const count = (key: string) => Effect.map(Effect.exit(consume(key, 0, policy)), Exit.isSuccess)
    yield* count("locked")
    const [isLocked, release] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM rate_limits WHERE key = 'locked' FOR UPDATE`
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(release)
        })
      )
    )
    yield* Deferred.await(isLocked)
    const unlock = Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(holder))
    return { count, sizes, sql, unlock }
  })

  it.live("delays only its own caller: other callers in its statement and later ones are counted", () =>
    Effect.gen(function* () {
      // Other callers wait for a part of the timeout, while the locked row is still locked.
      const { count, sizes, unlock } = yield* lockRow(6_000)
      const keys = numbers(40).map((index) => (index === 20 ? "locked" : `key ${index}`))
      const waiting = yield* Effect.forEach(keys, (key) =>
        Effect.forkChild(count(key), { startImmediately: true })
      )
      for (const [index, fiber] of waiting.entries()) {
        if (keys[index] !== "locked") expect(yield* Fiber.join(fiber)).toBe(true)
      }
      // Later callers do not wait, even while another request from the locked caller waits.
      sizes()
      const later = yield* Effect.forkChild(count("locked"), { startImmediately: true })
      for (const index of [1, 2, 3, 50, 51]) expect(yield* count(`key ${index}`)).toBe(true)
      expect(sizes()).toHaveLength(5)
      expect([waiting[20]?.pollUnsafe(), later.pollUnsafe()]).toEqual([undefined, undefined])
      yield* unlock
      expect(yield* Fiber.join(later)).toBe(true)
    })
  )

  it.live("makes its requests fail at their deadlines; after the unlock, requests are counted again", () =>
    Effect.gen(function* () {
      const { count, sql, unlock } = yield* lockRow(3_000)
      const outcomes = yield* Effect.forEach(numbers(30), () => count("locked"), concurrently)
      expect(outcomes).toEqual(numbers(30).map(() => false))
      const waiting = Effect.map(
        sql<{ readonly count: unknown }>`SELECT count(*) AS count FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND state = 'active' AND query LIKE '%rate_limit_steps%'
          AND query NOT LIKE '%pg_stat_activity%' AND ${"locked"} = ${"locked"}`,
        ([row]) => Number(row?.count)
      )
      // Waits until PostgreSQL has canceled the statement.
      yield* Effect.repeat(Effect.delay(waiting, "20 millis"), { until: (count) => count === 0 })
      yield* unlock
      expect(yield* count("other")).toBe(true)
      const used = Effect.map(
        sql<{ readonly used: unknown }>`SELECT used FROM rate_limits WHERE key = 'locked'`,
        ([row]) => Number(row?.used)
      )
      const before = yield* used
      expect(before).toBe(1)
      expect(yield* Effect.forEach(["locked", "locked"], count, concurrently)).toEqual([true, true])
      expect(yield* used).toBe(before + 2)
    })
  )
})
