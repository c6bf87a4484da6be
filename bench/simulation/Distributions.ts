/** Draws from distributions; the same stream of random numbers gives the same values. */
import type { Random } from "../http/Random.ts"
import * as Seeded from "../http/Random.ts"

/** A stream of its own for each purpose, so that more draws for one do not change the others. */
export const stream = (seed: number, purpose: number): Random =>
  Seeded.seeded(Math.imul(seed, 0x9e3779b1) + Math.imul(purpose, 0x85ebca6b))

/** A number from 0 to less than 1 with 53 random bits: 32 are too few to tell 10⁸ keys apart evenly. */
export const unit = (random: Random): number => {
  const high = Math.floor(random() * 2 ** 27)
  const low = Math.floor(random() * 2 ** 26)
  return (high * 2 ** 26 + low) / 2 ** 53
}

/** Exponentially distributed with mean 1. */
export const exponential = (random: Random): number => -Math.log(1 - random())

/**
 * Draws ranks from 1 to `size`, rank r in proportion to 1 / r^`exponent`: exactly, without a table, in constant time.
 * This is rejection-inversion for monotone discrete distributions by W. Hörmann and G. Derflinger (1996): the area below
 * a continuous hat is inverted, and a point above the bar of its rank is rejected.
 */
export const zipf = (size: number, exponent: number): ((random: Random) => number) => {
  // The antiderivative of x^-exponent and its inverse; for 1 they are the logarithm and the exponential function.
  const area = (x: number): number =>
    exponent === 1 ? Math.log(x) : (x ** (1 - exponent) - 1) / (1 - exponent)
  const inverse = (a: number): number =>
    exponent === 1 ? Math.exp(a) : (1 + a * (1 - exponent)) ** (1 / (1 - exponent))
  const bar = (rank: number): number => rank ** -exponent
  // The bar of rank 1 is not under a hat: its area is exact.
  const from = area(1.5) - 1
  const to = area(size + 0.5)
  // Points this close below their rank are always inside its bar, which saves most evaluations of the area.
  const sure = 2 - inverse(area(2.5) - bar(2))
  return (random) => {
    for (;;) {
      const point = from + unit(random) * (to - from)
      const x = inverse(point)
      const rank = Math.min(Math.max(Math.round(x), 1), size)
      if (rank - x <= sure || point >= area(rank + 0.5) - bar(rank)) return rank
    }
  }
}

/** A distribution of network delays. */
export interface Delay {
  /** Milliseconds that every message takes. */
  readonly leastMs: number
  /** Mean of what is added, which is distributed exponentially. */
  readonly meanMs: number
}

/** Draws the milliseconds that a message takes one way. */
export const delay = (random: Random, { leastMs, meanMs }: Delay): number =>
  leastMs + meanMs * exponential(random)
