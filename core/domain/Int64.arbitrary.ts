/** Generates integers around the boundaries where int64 implementations are often wrong. */
import * as fc from "fast-check"
import * as Int64 from "./Int64.ts"

const boundaries = [0n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 10n ** 18n, 2n ** 63n]

const nearBoundary = fc
  .tuple(
    fc.constantFrom(...boundaries, ...boundaries.map((boundary) => -boundary)),
    fc.bigInt({ min: -2n, max: 2n })
  )
  .map(([boundary, offset]) => boundary + offset)

/** Any int64, often at or near 0 or a boundary such as ±2⁵³ or ±2⁶³. */
export const int64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: Int64.min, max: Int64.max }),
  nearBoundary.filter((value) => value >= Int64.min && value <= Int64.max),
  fc.bigInt({ min: -1000n, max: 1000n })
)

/** Any non-negative int64. */
export const natural64: fc.Arbitrary<bigint> = int64.map((value) => (value < 0n ? -(value + 1n) : value))

/** Integers outside the range of int64, often by one. */
export const beyondInt64: fc.Arbitrary<bigint> = fc
  .tuple(fc.oneof(fc.bigInt({ min: 1n, max: 3n }), fc.bigInt({ min: 1n, max: 10n ** 40n })), fc.boolean())
  .map(([distance, isBelow]) => (isBelow ? Int64.min - distance : Int64.max + distance))
