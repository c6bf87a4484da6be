/** Provides rate-limit states and recorded calls for the laws of `RateLimitStore`. */
import type * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../../core/ports/RateLimitStore.ts"
import { expect, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { portCall } from "../../subjects/PortCall.ts"

export type Limits = RateLimitStore["Service"]
export type State = RateLimit.State

/** The names of a state's fields, all of which are numbers. */
export const fields = [
  "level",
  "at",
  "day",
  "used",
  "debt",
  "strikes",
  "strikesFrom",
  "strikeAt",
  "banLevel",
  "bannedUntil"
] as const satisfies ReadonlyArray<keyof State>

/**
 * A time in the 22nd century, in epoch ms, for the times in states: a store may use the machine's clock, which a check
 * cannot control, to delete spent states.
 */
export const FUTURE = Date.UTC(2140, 0, 1)

const DAY_MS = 86_400_000
const { MAX_SAFE_INTEGER } = Number

/** Maximum values of `day` and `banLevel`, which are multiplied by times; the products must be exact for any policy. */
const maxima: { readonly [field in keyof State]?: number } = {
  day: Math.floor(MAX_SAFE_INTEGER / DAY_MS) - 1,
  banLevel: 1_000
}

const numbers = [
  0,
  1,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  FUTURE,
  MAX_SAFE_INTEGER - 1,
  MAX_SAFE_INTEGER
]

const numberOf = (field: keyof State): fc.Arbitrary<number> => {
  const max = maxima[field] ?? MAX_SAFE_INTEGER
  return fc.oneof(fc.constantFrom(...numbers.filter((number) => number <= max)), fc.nat(1_000), fc.nat(max))
}

/** Returns the state, with a later `at` if it might be spent under some policy. */
const unspent = (state: State): State =>
  Math.max(state.at, state.bannedUntil, state.day * DAY_MS) >= FUTURE ? state : { ...state, at: FUTURE }

/** Generates states whose fields are arbitrary valid integers. */
export const state: fc.Arbitrary<State> = fc
  .record({
    level: numberOf("level"),
    at: numberOf("at"),
    day: numberOf("day"),
    used: numberOf("used"),
    debt: numberOf("debt"),
    strikes: numberOf("strikes"),
    strikesFrom: numberOf("strikesFrom"),
    strikeAt: numberOf("strikeAt"),
    banLevel: numberOf("banLevel"),
    bannedUntil: numberOf("bannedUntil")
  })
  .map(unspent)

/** Returns a state that differs in every field from the state with the next index. */
export const numbered = (index: number): State => ({
  level: 60_000 + 10 * index,
  at: FUTURE + 10 * index + 1,
  day: FUTURE / DAY_MS + 10 * index + 2,
  used: 10 * index + 3,
  debt: 10 * index + 7,
  strikes: 10 * index + 4,
  strikesFrom: FUTURE + 10 * index + 5,
  strikeAt: FUTURE + 10 * index + 6,
  banLevel: index % 7,
  bannedUntil: FUTURE + 10 * index + 8
})

const zero: State = RateLimit.initial(0, { perMinute: 0, perDay: 0 })

/** One state with every field at its maximum, and one for each field with only that field at its maximum. */
export const extremes: ReadonlyArray<State> = [
  fields.map((field) => [field, maxima[field] ?? MAX_SAFE_INTEGER] as const),
  ...fields.map((field) => [[field, maxima[field] ?? MAX_SAFE_INTEGER] as const])
].map((set) => unspent({ ...zero, ...Object.fromEntries(set) }))

/** Whether two states are equal in every field, or both absent. */
export const isSame = (a: State | undefined, b: State | undefined): boolean =>
  a === undefined || b === undefined ? a === b : fields.every((field) => a[field] === b[field])

/** Fails unless the states are equal. */
export const expectSame = (
  actual: State | undefined,
  expected: State | undefined,
  what: string
): Effect.Effect<void, Violation> =>
  expect(isSame(actual, expected), `${what} ${describe(expected)}`, describe(actual))

/** Describes a state for messages: its nonzero fields. */
export const describe = (state: State | undefined): string =>
  state === undefined
    ? "no state"
    : `{${fields
        .filter((field) => state[field] !== 0)
        .map((field) => `${field} ${String(state[field])}`)
        .join(", ")}}`

/** Runs a step on the state of a key and records the call. */
export const modify = <A>(
  limits: Limits,
  key: string,
  action: string,
  step: (state: State | undefined) => readonly [result: A, state: State],
  show: (result: A) => string,
  trial: Trial
) => portCall(trial, `${action} ${nameOf(key)}`, () => limits.modify(key, step), show)

/** Stores a state and returns the previous one. */
export const replace = (limits: Limits, key: string, after: State, trial: Trial) =>
  modify(limits, key, `store ${describe(after)} for`, (before) => [before, after], describe, trial)

/** Reads the state of a key without changing it; stores one if there is none. */
export const read = (limits: Limits, key: string, trial: Trial) =>
  modify(limits, key, "read", (before) => [before, before ?? numbered(0)], describe, trial)

/** Adds one to `used` and returns the previous value, 0 for a key without a state. */
export const increment = (limits: Limits, key: string, trial: Trial) =>
  modify(
    limits,
    key,
    "count",
    (before = { ...numbered(0), used: 0 }) => [before.used, { ...before, used: before.used + 1 }],
    String,
    trial
  )

/** Describes a state key for messages. */
export const nameOf = (key: string): string =>
  JSON.stringify(key.length > 60 ? `${key.slice(0, 40)}…${key.slice(-10)}` : key)
