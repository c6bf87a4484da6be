/** Reads statistics of PostgreSQL, which transactions of other tests on the server affect. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Plan from "../../core/limits/Plan.ts"
import * as Databases from "./Databases.fixture.ts"
import * as RateLimits from "./RateLimits.fixture.ts"

Databases.describeOn(Databases.postgres, "SqlRateLimitStore", () => {
  it.live(
    "makes nearly all updates heap-only, so that they rewrite no index",
    () =>
      Effect.gen(function* () {
        const database = yield* Databases.postgres.create
        yield* Effect.scoped(
          Effect.gen(function* () {
            const node = yield* RateLimits.openNode(database, { timeoutMs: 20_000 })
            yield* Effect.forEach(
              Array.from({ length: 1_500 }, (_, index) => index),
              (index) =>
                RateLimits.count(node, `key-${index % 150}`, 20_000 * 86_400_000 + index, {
                  plan: Plan.standard.Free,
                  ban: undefined
                }),
              { concurrency: 16 }
            )
          })
        )
        const sql = yield* RateLimits.openClient(database)
        const statistics = Effect.map(
          sql<{ updated: unknown; hot: unknown }>`
          SELECT n_tup_upd AS updated, n_tup_hot_upd AS hot FROM pg_stat_user_tables
          WHERE relid = 'rate_limits'::regclass`,
          ([row]) => ({ updated: Number(row?.updated), hot: Number(row?.hot) })
        )
        // Connections report their statistics when they close.
        const { hot, updated } = yield* Effect.repeat(Effect.delay(statistics, "20 millis"), {
          until: ({ updated }) => updated >= 1_350,
          times: 3_000
        })
        expect(updated).toBe(1_350)
        expect(hot / updated).toBeGreaterThan(0.95)
      }),
    // Retried, because transactions of other tests on the server may retain old row versions.
    { retry: 10 }
  )
})
