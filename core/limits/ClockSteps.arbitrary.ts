/** Generates request histories on a clock that steps forward and back. */
import * as fc from "fast-check"
import { DAY, HOUR, MINUTE, SECOND } from "./RateLimit.arbitrary.ts"

/** After `passedMs` milliseconds, the clock steps by `stepMs` milliseconds, and `requests` requests arrive together. */
export interface Moment {
  readonly passedMs: number
  readonly stepMs: number
  readonly requests: number
}

const size = fc.oneof(
  fc.integer({ min: 1, max: 2 * MINUTE }),
  fc.integer({ min: 1, max: 2 * HOUR }),
  fc.constantFrom(HOUR, DAY, 3 * DAY)
)

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  size,
  size.map((ms) => -ms)
)

export const moments: fc.Arbitrary<ReadonlyArray<Moment>> = fc.array(
  fc.record({
    passedMs: fc.oneof(fc.integer({ min: 0, max: 3 * SECOND }), fc.integer({ min: 0, max: 2 * MINUTE })),
    stepMs: step,
    requests: fc.integer({ min: 0, max: 12 })
  }),
  { minLength: 1, maxLength: 40, size: "max" }
)
