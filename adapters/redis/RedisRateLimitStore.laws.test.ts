/** Checks that the store and the core's step agree on the verdict and the state after each request in any history. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { DAY } from "../../conformance/ports/LimitDraws.ts"
import * as Histories from "../storage/RateLimitHistory.arbitrary.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

/** The two methods of counting a request: `consume`, or `modify` with the core's step. */
const countingMethods = { consume: Nodes.consume, modify: Nodes.modify } as const

type CountingMethod = keyof typeof countingMethods

/** The counting methods of consecutive requests. */
const methods = fc.array(fc.constantFrom<CountingMethod>("consume", "consume", "modify"), {
  minLength: 1,
  maxLength: 5
})

const examples = Histories.offenders.map(
  ([moves, bans]): [number, typeof moves, typeof bans, ReadonlyArray<CountingMethod>] => [
    20_000 * DAY,
    moves,
    bans,
    ["consume"]
  ]
)

let runs = 0

for (const kind of RedisServers.kinds) {
  for (const topology of Nodes.topologies) {
    RedisServers.describeOn(kind, `the store in a ${topology}, compared with the core's step`, () => {
      const deployment = Nodes.forAllTests(() => Nodes.startDeployment(kind, topology))

      it.effect("returns the same verdicts and stores the same states for any history of requests", () =>
        Effect.gen(function* () {
          const nodes = yield* Effect.forEach([1, 2], () => Nodes.open(deployment().address))
          const services = yield* Effect.context<never>()
          const law = fc.asyncProperty(
            Histories.moment,
            Histories.moves,
            Histories.bans,
            methods,
            (start, moves, bans, methods) =>
              Effect.gen(function* () {
                runs++
                for (const [index, request] of Histories.play(start, moves, bans).entries()) {
                  const { after, cost, now, policy, verdict } = request
                  const key = `${runs}:${request.key}`
                  const store = nodes[index % nodes.length]
                  const method = methods[index % methods.length]
                  if (store === undefined || method === undefined)
                    throw new Error("a node or a counting method is missing")
                  expect(yield* countingMethods[method](store, key, now, policy, cost)).toEqual(verdict)
                  expect(yield* Effect.promise(() => Nodes.readState(deployment(), key))).toEqual(after)
                }
              }).pipe(Effect.runPromiseWith(services))
          )
          yield* Effect.promise(() => fc.assert(law, { numRuns: 25, examples }))
        })
      )

      it.effect("returns the same verdicts and states for the largest and smallest numbers", () =>
        Effect.gen(function* () {
          const store = yield* Nodes.open(deployment().address)
          for (const { after, cost, key, now, policy, verdict } of Histories.atBounds()) {
            expect(yield* countingMethods.consume(store, key, now, policy, cost)).toEqual(verdict)
            expect(yield* Effect.promise(() => Nodes.readState(deployment(), key))).toEqual(after)
          }
        })
      )

      it.effect("returns the same verdicts for concurrent requests from one caller, which share calls", () =>
        Effect.gen(function* () {
          const store = yield* Nodes.open(deployment().address)
          const services = yield* Effect.context<never>()
          const law = fc.asyncProperty(
            Histories.moment,
            Histories.moves,
            Histories.bans,
            (start, moves, bans) =>
              Effect.gen(function* () {
                runs++
                const requests = Histories.play(start, moves, bans)
                // Requests from one caller are counted in the order in which they arrive.
                const verdicts = yield* Effect.forEach(
                  requests,
                  ({ cost, key, now, policy }) =>
                    countingMethods.consume(store, `${runs}:${key}`, now, policy, cost),
                  { concurrency: "unbounded" }
                )
                expect(verdicts).toEqual(requests.map(({ verdict }) => verdict))
              }).pipe(Effect.runPromiseWith(services))
          )
          yield* Effect.promise(() => fc.assert(law, { numRuns: 30 }))
        })
      )
    })
  }
}
