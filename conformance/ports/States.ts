/** Provides rate-limit states, most of them at a boundary of their fields. */
import * as fc from "fast-check"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { usual } from "./Draws.ts"

type State = RateLimit.State

/** A time in the 22nd century, because a store may delete spent states by the machine's clock. */
export const FUTURE = Date.UTC(2140, 0, 1)

const DAY_MS = 86_400_000
const { MAX_SAFE_INTEGER } = Number

/** The names of a state's fields, all of which are numbers. */
export const fields = Object.keys(RateLimit.initial(0, { perMinute: 1, perDay: 1 })) as ReadonlyArray<
  keyof State
> // exactly its keys

/** Maximum values of `day` and `banLevel`, which are multiplied by times; the products must be exact for any policy. */
const maxima: { readonly [field in keyof State]?: number } = {
  day: Math.floor(MAX_SAFE_INTEGER / DAY_MS) - 1,
  banLevel: 1_000
}

const boundaries = [
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
  const boundary = fc.constantFrom(...boundaries.filter((number) => number <= max))
  // With many zeros, some states affect decisions because of only one of their numbers.
  return fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, boundary, fc.nat(1_000), fc.nat(max))
}

/** Generates states whose fields are arbitrary valid integers. */
export const state = fc.record(
  Object.fromEntries(fields.map((field) => [field, numberOf(field)])),
  usual
) as fc.Arbitrary<State> // every field

/** Returns the state, with a later `at` if it might be spent under some policy. */
export const unspent = (given: State): State =>
  Math.max(given.at, given.bannedUntil, given.day * DAY_MS) >= FUTURE ? given : { ...given, at: FUTURE }

/** Whether two states are equal in every field, or both absent. */
export const isSame = (a: State | undefined, b: State | undefined): boolean =>
  a === undefined || b === undefined ? a === b : fields.every((field) => a[field] === b[field])

/** Describes a state for messages: its nonzero fields. */
export const describe = (given: State | undefined): string =>
  given === undefined
    ? "no state"
    : `{${fields
        .filter((field) => given[field] !== 0)
        .map((field) => `${field} ${String(given[field])}`)
        .join(", ")}}`
