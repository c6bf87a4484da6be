/** Checks that requests counted in the worker thread get the verdicts and states of the core's step. */
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as RateLimitStep from "./RateLimitStep.ts"
import * as SqliteCounting from "./SqliteCounting.ts"

const plan = fc.record({
  perMinute: fc.integer({ min: 1, max: 20 }),
  perDay: fc.integer({ min: 1, max: 30 })
})
const ban = fc.record({
  strikes: fc.integer({ min: 1, max: 3 }),
  withinMs: fc.integer({ min: 1, max: 600_000 }),
  strikeIntervalMs: fc.integer({ min: 0, max: 10 }),
  durationsMs: fc.tuple(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 900_000 })),
  cleanMs: fc.integer({ min: 1, max: 86_400_000 })
})
const policy: fc.Arbitrary<RateLimit.Policy> = fc.record({
  plan,
  ban: fc.oneof(fc.constant(undefined), fc.constant(BanPolicy.standard), ban)
})

/** Runs the steps on a table in memory, as SQLite would. */
const runOnTable = (calls: ReadonlyArray<SqliteCounting.Call>) => {
  const rows = new Map<unknown, ReadonlyArray<unknown>>()
  // Copies the calls as `postMessage` does.
  const steps = SqliteCounting.steps(structuredClone(calls))
  let step = steps.next()
  while (step.done !== true) {
    const [sql, [key, ...values]] = step.value
    if (sql === SqliteCounting.READ) {
      const row = rows.get(key)
      step = steps.next(row === undefined ? [] : [row])
    } else {
      rows.set(key, values)
      step = steps.next([])
    }
  }
  const results = structuredClone(step.value)
  const counted = calls.map(([, , perMinute, perDay, ban, cost], index) =>
    RateLimitStep.countedOf(results[index] ?? [], { policy: { plan: { perMinute, perDay }, ban }, cost })
  )
  return { rows, counted }
}

it("SqliteCounting returns the verdicts of the core's step in order, and stores its states", () => {
  const policies = fc.array(policy, { minLength: 1, maxLength: 3 })
  const history = fc.array(
    fc.record({
      key: fc.constantFrom("a", "b", "c"),
      now: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_200_000 }),
      policy: fc.nat(2),
      cost: fc.integer({ min: 1, max: 3 })
    }),
    { maxLength: 60 }
  )
  fc.assert(
    fc.property(policies, history, (limits, sent) => {
      const counts = sent.map(({ policy: index, ...count }) => {
        const chosen = limits[index % limits.length]
        if (chosen === undefined) throw new Error("a policy is missing")
        return { ...count, policy: chosen }
      })
      const { counted, rows } = runOnTable(
        counts.map(({ cost, key, now, policy: { ban, plan } }) => [
          key,
          now,
          plan.perMinute,
          plan.perDay,
          ban,
          cost
        ])
      )
      const states = new Map<string, RateLimit.State>()
      const expected = counts.map(({ cost, key, now, policy }) => {
        const isNew = !states.has(key)
        const [verdict, after] = RateLimit.step(states.get(key), now, policy, cost)
        states.set(key, after)
        return { verdict, isNew }
      })
      expect(counted).toEqual(expected)
      expect(new Map([...rows].map(([key, values]) => [key, RateLimitFields.stateOf(values)]))).toEqual(
        states
      )
    })
  )
})
