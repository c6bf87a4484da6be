/** Compares the store with the core's step: same verdict and same state after each request of any history. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { DAY } from "../../conformance/checks/ports/RateLimitHistory.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as Databases from "./Databases.fixture.ts"
import * as Histories from "./RateLimitHistory.arbitrary.ts"
import * as RateLimits from "./RateLimits.fixture.ts"

/** Runs histories on several nodes, alternating between the given ways to count, and compares each step. */
const compare = (kind: Databases.Kind, numRuns: number, ways: fc.Arbitrary<ReadonlyArray<RateLimits.Way>>) =>
  Effect.gen(function* () {
    const database = yield* kind.create
    const nodes = yield* RateLimits.nodes(2, database)
    const sql = yield* RateLimits.client(database)
    const services = yield* Effect.context<never>()
    const seen = new Map<string, number>()
    const keys = new Set<string>()
    let run = 0
    const examples = Histories.offenders.map(
      ([moves, bans]): [number, typeof moves, typeof bans, ReadonlyArray<RateLimits.Way>] => [
        20_000 * DAY,
        moves,
        bans,
        ["request"]
      ]
    )
    const law = fc.asyncProperty(
      Histories.moment,
      Histories.moves,
      Histories.bans,
      ways,
      (start, moves, bans, ways) =>
        Effect.gen(function* () {
          run++
          for (const [index, sent] of Histories.play(start, moves, bans).entries()) {
            const { after, now, policy, verdict } = sent
            const key = `${run}:${sent.key}`
            const store = nodes[index % nodes.length]
            const way = ways[index % ways.length]
            if (store === undefined || way === undefined) throw new Error("there are some of both")
            expect(yield* RateLimits.ways[way](store, key, now, policy)).toEqual(verdict)
            expect((yield* RateLimits.stored(sql, key)).get(key)).toEqual(after)
            keys.add(key)
            for (const feature of Histories.features(sent)) seen.set(feature, (seen.get(feature) ?? 0) + 1)
          }
        }).pipe(Effect.runPromiseWith(services))
    )
    yield* Effect.promise(() => fc.assert(law, { numRuns, examples }))
    // One row per caller after any history.
    expect(yield* RateLimits.count(sql)).toBe(keys.size)
    return seen
  })

const always = (way: RateLimits.Way) => fc.constant<ReadonlyArray<RateLimits.Way>>([way])

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "SqlRateLimitStore equals the core's step, state by state", () => {
    it.effect(
      "for every history of requests",
      () =>
        Effect.gen(function* () {
          const seen = yield* compare(kind, 80, always("request"))
          // The histories must cover all outcomes.
          expect(Histories.allFeatures.filter((feature) => !seen.has(feature))).toEqual([])
        }),
      60_000
    )

    it.effect("for histories that modify counts completely or in part", () =>
      compare(
        kind,
        20,
        fc.array(fc.constantFrom<RateLimits.Way>("request", "modify"), { minLength: 1, maxLength: 5 })
      )
    )

    it.effect("at the bounds of all numbers", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.node(database)
        const sql = yield* RateLimits.client(database)
        const longest = {
          strikes: 1,
          withinMs: BanPolicy.maxMs,
          strikeIntervalMs: 0,
          durationsMs: [BanPolicy.maxMs],
          cleanMs: BanPolicy.maxMs
        } as const
        const { maxRequests } = Plan
        const plans = [
          { perMinute: maxRequests, perDay: maxRequests },
          { perMinute: 1, perDay: 1 },
          { perMinute: maxRequests, perDay: 1 },
          { perMinute: 1, perDay: maxRequests }
        ]
        for (const [index, plan] of plans.entries()) {
          for (const first of [0, 1, 8_640_000_000_000_000 - 10 * BanPolicy.maxMs]) {
            const key = `${index}:${first}`
            const moves = [0, 0, 1, 59_999, 60_000, 86_400_000, BanPolicy.maxMs - 1, BanPolicy.maxMs].map(
              (offsetMs): Histories.Move => ({
                key,
                plan,
                ban: index === 0 ? 0 : 1,
                origin: "clock",
                offsetMs,
                requests: 3,
                everyMs: 0
              })
            )
            for (const { after, now, policy, verdict } of Histories.play(first, moves, [
              longest,
              { ...longest, strikes: 2 }
            ])) {
              expect(yield* RateLimits.request(store, key, now, policy)).toEqual(verdict)
              expect((yield* RateLimits.stored(sql, key)).get(key)).toEqual(after)
            }
          }
        }
      })
    )
  })
}
