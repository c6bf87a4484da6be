/** Draws states of rate limits, most of them at a boundary of their fields, policies, and times at their boundaries. */
import * as fc from "fast-check"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { usual, weighted } from "./Draws.ts"

type State = RateLimit.State

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** A midnight in the 22nd century, because a store may delete spent states by the machine's clock. */
export const FUTURE = Date.UTC(2140, 0, 1)

/** The names of a state's fields, all of which are numbers. */
export const fields = Object.keys(RateLimit.initial(0, { perMinute: 1, perDay: 1 })) as ReadonlyArray<
  keyof State
> // exactly its keys

/** Maximum values of `day` and `banLevel`, which are multiplied by times; the products must be exact for any policy. */
const maxima: { readonly [field in keyof State]?: number } = {
  day: Math.floor(Number.MAX_SAFE_INTEGER / DAY) - 1,
  banLevel: 1_000
}

const numberOf = (field: keyof State): fc.Arbitrary<number> => {
  const max = maxima[field] ?? Number.MAX_SAFE_INTEGER
  const ends = [31, 32, 53].map((bits) => fc.nat(Math.min(2 ** bits, max)))
  // With many zeros, some states affect decisions because of only one of their numbers.
  return weighted(
    [3, fc.constant(0)],
    [1, fc.nat(1_000)],
    [1, fc.constant(Math.min(FUTURE, max))],
    [2, fc.oneof(...ends)]
  )
}

/** Generates states whose fields are arbitrary valid integers; `at` is late enough that no policy makes them spent. */
export const state = fc
  .record(Object.fromEntries(fields.map((field) => [field, numberOf(field)])), usual)
  .map((drawn) => {
    const state = drawn as unknown as State // every field
    const isUnspent = Math.max(state.at, state.bannedUntil, state.day * DAY) >= FUTURE
    return isUnspent ? state : { ...state, at: FUTURE }
  })

/** Describes a state for messages: its fields that are not zero. */
export const describe = (given: State | undefined): string => {
  if (given === undefined) return "no state"
  const shown = fields.filter((field) => given[field] !== 0)
  return `{${shown.map((field) => `${field} ${JSON.stringify(given[field])}`).join(", ")}}`
}

/** Whether two states are equal in every field, or both absent. */
export const isSame = (a: State | undefined, b: State | undefined): boolean => describe(a) === describe(b)

const round = fc.constantFrom(1, SECOND, 20 * SECOND, MINUTE, 5 * MINUTE, HOUR, DAY)
const duration = weighted([6, round], [1, fc.integer({ min: 1, max: 40 * DAY })])

const ban: fc.Arbitrary<BanPolicy> = fc.record(
  {
    strikes: fc.integer({ min: 1, max: 3 }),
    withinMs: duration,
    strikeIntervalMs: fc.oneof(fc.constant(0), fc.constant(SECOND), duration),
    durationsMs: fc
      .tuple(duration, fc.array(duration, { maxLength: 3 }))
      .map(([first, others]) => [first, ...others] as const),
    cleanMs: duration
  },
  usual
)

const limit = (max: number) =>
  weighted(
    [8, fc.constantFrom(1, 2, 3, 7, 9)],
    [2, fc.integer({ min: 1, max })],
    [1, fc.constant(Plan.maxRequests)]
  )

export const policy: fc.Arbitrary<RateLimit.Policy> = fc.record(
  {
    plan: fc.record({ perMinute: limit(2_000), perDay: limit(Plan.maxRequests) }, usual),
    ban: fc.option(ban, { nil: undefined, freq: 5 })
  },
  usual
)

/** Generates the milliseconds between two requests; the durations of policies are likely. */
export const advanceMs: fc.Arbitrary<number> = weighted(
  [8, fc.integer({ min: -1, max: 1 })],
  [2, fc.integer({ min: 0, max: 2 * SECOND })],
  [4, fc.tuple(round, fc.integer({ min: -1, max: 1 })).map(([ms, more]) => ms + more)],
  [1, fc.integer({ min: -2 * DAY, max: 3 * DAY })],
  [1, fc.integer({ min: -2 * MINUTE, max: MINUTE })]
)
