import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as Databases from "./Databases.fixture.ts"
import * as RateLimitSweep from "./RateLimitSweep.ts"
import * as RateLimits from "./RateLimits.fixture.ts"

const START = 20_000 * 86_400_000
const anonymous = { plan: Plan.standard.Free, ban: undefined }
const keyed = { plan: Plan.standard.Free, ban: BanPolicy.standard }

const MAX = 1_000

/** The longest real wait for an eviction; all waits together are twice as long. */
const MAX_REAL_MS = 10_000

/**
 * A shorter timeout would end a round in the middle of a minute: the next one would start and time out within one
 * adjustment of the clock.
 */
const options = { maxAnonymousStates: MAX, timeoutMs: 60_000 }

/**
 * Advances the clock by minutes, so that nodes evict, until at most `maxRows` rows remain; returns the last number. A
 * call that is still running when the clock advances times out. The real wait therefore doubles each time, until it is
 * long enough for a slow database.
 */
const waitForEviction = (sql: SqlClient.SqlClient, maxRows: number) =>
  Effect.gen(function* () {
    let rows = Number.POSITIVE_INFINITY
    for (let realMillis = 5; rows > maxRows && realMillis <= MAX_REAL_MS; realMillis *= 2) {
      yield* TestClock.adjust("1 minute")
      yield* TestClock.withLive(Effect.sleep(realMillis))
      rows = yield* RateLimits.countRows(sql)
    }
    return rows
  })

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "RateLimitSweep.eviction", () => {
    it.effect("keeps all keys, but only a limited number of networks, on two concurrent nodes", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const nodes = yield* RateLimits.openNodes(database, 2, options)
        const sql = yield* RateLimits.openClient(database)
        let peakRows = 0
        for (let round = 0; round < 20; round++) {
          yield* Effect.forEach(
            nodes,
            (node, index) =>
              Effect.forEach(
                Array.from({ length: 200 }, (_, request) => request),
                (request) => RateLimits.count(node, `network:${round}.${index}.${request}`, START, anonymous),
                { concurrency: 20, discard: true }
              ),
            { concurrency: "unbounded", discard: true }
          )
          yield* RateLimits.count(
            nodes[0] ?? (yield* Effect.die("a node is missing")),
            `key:${round}`,
            START,
            keyed
          )
          // A node includes the networks of the other node only in its next count, a minute later.
          peakRows = Math.max(peakRows, yield* RateLimits.countRows(sql))
          expect(yield* waitForEviction(sql, MAX + 20)).toBeLessThanOrEqual(MAX + 20)
        }
        expect(peakRows).toBeLessThanOrEqual(MAX + 2 * 400 + 20)
        const stored = yield* RateLimits.readStates(sql, "key:")
        expect(stored.size).toBe(20)
      })
    )

    it.effect("evicts only the least recently used networks", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const node = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        for (let index = 0; index < 500; index++) {
          yield* RateLimits.count(node, `network:${index}`, START + index, anonymous)
        }
        yield* RateLimits.count(node, "network:0", START + 1_000, anonymous)
        expect(yield* RateLimitSweep.evictSome(sql, "network:", 100)).toEqual({
          deleted: 100,
          next: "network:"
        })
        const stored = [...(yield* RateLimits.readStates(sql)).keys()]
        expect(stored).toHaveLength(400)
        expect(stored).toContain("network:0")
        expect(stored.filter((key) => Number(key.slice("network:".length)) <= 100)).toEqual(["network:0"])
      })
    )

    it.effect("evicts at most half of the networks that it has read", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const node = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        yield* Effect.forEach(
          Array.from({ length: 30 }, (_, index) => index),
          (index) => RateLimits.count(node, `network:${index}`, START + index, anonymous)
        )
        expect((yield* RateLimitSweep.evictSome(sql, "network:", 1_000)).deleted).toBe(15)
        expect(yield* RateLimits.countRows(sql)).toBe(15)
      })
    )

    it.effect("evicts the surplus networks that an earlier node has stored", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const sql = yield* RateLimits.openClient(database)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const earlierNode = yield* RateLimits.openNode(database)
            yield* Effect.forEach(
              Array.from({ length: MAX + 300 }, (_, index) => index),
              (index) => RateLimits.count(earlierNode, `network:${index}`, START, anonymous),
              { concurrency: 50, discard: true }
            )
          })
        )
        yield* RateLimits.openNode(database, options)
        expect(yield* waitForEviction(sql, MAX)).toBeLessThanOrEqual(MAX)
      })
    )
  })
}
