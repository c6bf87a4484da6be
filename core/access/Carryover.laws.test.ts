import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Arbitrary from "../limits/RateLimit.arbitrary.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as RateLimitStore from "../ports/RateLimitStore.ts"
import * as Carryover from "./Carryover.ts"

const { DAY, SECOND } = Arbitrary

/** A store with a clock of its own, as a database has one. */
const storeAt = (at: number, states: Map<string, RateLimit.State>) =>
  RateLimitStore.make({
    modify: (key, step) =>
      Effect.sync(() => {
        const [result, state] = step(states.get(key))
        states.set(key, state)
        return result
      }),
    read: (keys) =>
      Effect.sync(() => ({ at, states: new Map([...states].filter(([key]) => keys.includes(key))) }))
  })

const stateAfter = (start: number, moves: ReadonlyArray<Arbitrary.Move>, policy: RateLimit.Policy) =>
  Arbitrary.play(start, moves, [policy]).reduce<{ state: RateLimit.State | undefined; now: number }>(
    ({ state }, { now }) => ({ state: RateLimit.step(state, now, policy)[1], now }),
    { state: undefined, now: start }
  )

describe("Carryover.carry", () => {
  it("gives the larger usage of both states by the clock of the store, whatever that of the process", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.policy,
        Arbitrary.moves,
        Arbitrary.moves,
        fc.oneof(fc.integer({ min: -2 * DAY, max: 2 * DAY }), fc.constantFrom(-61 * SECOND, 61 * SECOND)),
        (start, policy, moves, others, skew) => {
          const [used, own] = [stateAfter(start, moves, policy), stateAfter(start, others, policy)]
          const now = Math.max(used.now, own.now)
          const states = new Map(
            Object.entries({ from: used.state, to: own.state }).flatMap(([key, state]) =>
              state === undefined ? [] : [[key, state] as const]
            )
          )
          const expected =
            used.state &&
            RateLimit.withUsageOf(
              own.state ?? RateLimit.initial(now, policy.plan),
              used.state,
              now,
              policy.plan
            )
          const key = { limits: policy.plan }
          Effect.runSync(Carryover.carry(storeAt(now, states), "from", "to", key, now + skew))
          expect(states.get("to")).toEqual(expected ?? own.state)
        }
      )
    )
  })
})
