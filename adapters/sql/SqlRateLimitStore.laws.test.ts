/** Checks that the store and the core's step agree on the verdict and the state after each request in any history. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { DAY } from "../../conformance/ports/LimitDraws.ts"
import * as Histories from "../storage/RateLimitHistory.arbitrary.ts"
import * as Databases from "./Databases.fixture.ts"
import * as RateLimits from "./RateLimits.fixture.ts"

/** The counting methods of consecutive requests: `consume` where the store has it, `modify`, or both by turns. */
const methods = fc.array(fc.constantFrom<RateLimits.CountingMethod>("count", "count", "modify"), {
  minLength: 1,
  maxLength: 5
})

const examples = Histories.offenders.map(
  ([moves, bans]): [number, typeof moves, typeof bans, ReadonlyArray<RateLimits.CountingMethod>] => [
    20_000 * DAY,
    moves,
    bans,
    ["count"]
  ]
)

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "SqlRateLimitStore, compared with the core's step", () => {
    it.effect("returns the same verdicts and stores the same states for any history of requests", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const nodes = yield* RateLimits.openNodes(database, 2)
        const sql = yield* RateLimits.openClient(database)
        const services = yield* Effect.context<never>()
        const keys = new Set<string>()
        let run = 0
        const law = fc.asyncProperty(
          Histories.moment,
          Histories.moves,
          Histories.bans,
          methods,
          (start, moves, bans, methods) =>
            Effect.gen(function* () {
              run++
              for (const [index, request] of Histories.play(start, moves, bans).entries()) {
                const { after, cost, now, policy, verdict } = request
                const key = `${run}:${request.key}`
                const store = nodes[index % nodes.length]
                const method = methods[index % methods.length]
                if (store === undefined || method === undefined)
                  throw new Error("a node or a counting method is missing")
                expect(yield* RateLimits.countingMethods[method](store, key, now, policy, cost)).toEqual(
                  verdict
                )
                expect((yield* RateLimits.readStates(sql, key)).get(key)).toEqual(after)
                keys.add(key)
              }
            }).pipe(Effect.runPromiseWith(services))
        )
        yield* Effect.promise(() => fc.assert(law, { numRuns: 20, examples }))
        // After any history, there is one row per caller.
        expect(yield* RateLimits.countRows(sql)).toBe(keys.size)
      })
    )

    it.effect("returns the same verdicts and states for concurrent requests", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        const services = yield* Effect.context<never>()
        const seen = { sharing: 0, mixedKeys: 0, mixedPolicies: 0 }
        let run = 0
        const law = fc.asyncProperty(
          Histories.moment,
          Histories.moves,
          Histories.bans,
          // At most the size of one statement, because requests with one key in two statements have no defined order.
          fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 5 }),
          (start, moves, bans, sizes) =>
            Effect.gen(function* () {
              run++
              const requests = Histories.play(start, moves, bans).map((request) => ({
                ...request,
                key: `${run}:${request.key}`
              }))
              let next = 0
              for (let turn = 0; next < requests.length; turn++) {
                const group = requests.slice(next, next + (sizes[turn % sizes.length] ?? 1))
                next += group.length
                const verdicts = yield* Effect.forEach(
                  group,
                  ({ cost, key, now, policy }) => RateLimits.count(store, key, now, policy, cost),
                  { concurrency: "unbounded" }
                )
                expect(verdicts).toEqual(group.map(({ verdict }) => verdict))
                const stored = yield* RateLimits.readStates(sql, `${run}:`)
                for (const [key, { after }] of new Map(group.map((request) => [request.key, request]))) {
                  expect(stored.get(key)).toEqual(after)
                }
                if (group.length > 1) seen.sharing++
                if (new Set(group.map(({ key }) => key)).size > 1) seen.mixedKeys++
                if (new Set(group.map(({ policy }) => policy.ban)).size > 1) seen.mixedPolicies++
              }
            }).pipe(Effect.runPromiseWith(services))
        )
        yield* Effect.promise(() => fc.assert(law, { numRuns: 25 }))
        expect(Object.entries(seen).filter(([, count]) => count < 10)).toEqual([])
      })
    )

    it.effect("returns the same verdicts and states for the largest and smallest numbers", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const store = yield* RateLimits.openNode(database)
        const sql = yield* RateLimits.openClient(database)
        for (const { after, cost, key, now, policy, verdict } of Histories.atBounds()) {
          expect(yield* RateLimits.count(store, key, now, policy, cost)).toEqual(verdict)
          expect((yield* RateLimits.readStates(sql, key)).get(key)).toEqual(after)
        }
      })
    )
  })
}
