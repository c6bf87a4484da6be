/** Draws from random distributions; the same stream of random numbers gives the same values. */
import type { Random } from "../http/Random.ts"
import * as Seeded from "../http/Random.ts"

/** Creates the stream of random numbers for one purpose. Drawing from one stream does not affect the others. */
export const stream = (seed: number, purpose: number): Random =>
  Seeded.seeded(Math.imul(seed, 0x9e3779b1) + Math.imul(purpose, 0x85ebca6b))

/** Returns a number from 0 to less than 1 with 53 random bits; 32 bits are too few to draw 10⁸ keys evenly. */
export const uniform = (random: Random): number => {
  const high = Math.floor(random() * 2 ** 27)
  const low = Math.floor(random() * 2 ** 26)
  return (high * 2 ** 26 + low) / 2 ** 53
}

/** Returns an exponentially distributed number with mean 1. */
export const exponential = (random: Random): number => -Math.log(1 - random())

/**
 * Creates a function that draws ranks from 1 to `size` from a Zipf distribution: the probability of rank r is
 * proportional to 1 / r^`exponent`. Draws are exact, need no table, and take constant expected time. The algorithm is
 * rejection-inversion for monotone discrete distributions by W. Hörmann and G. Derflinger (1996). It inverts the area
 * under a continuous hat function, and rejects points above the bar of their rank.
 */
export const zipf = (size: number, exponent: number): ((random: Random) => number) => {
  // The antiderivative of x^-exponent, and its inverse; for exponent 1, the logarithm and the exponential function.
  const area = (x: number): number =>
    exponent === 1 ? Math.log(x) : (x ** (1 - exponent) - 1) / (1 - exponent)
  const inverse = (a: number): number =>
    exponent === 1 ? Math.exp(a) : (1 + a * (1 - exponent)) ** (1 / (1 - exponent))
  const bar = (rank: number): number => rank ** -exponent
  // Rank 1 has no hat: the area of its bar is used exactly.
  const from = area(1.5) - 1
  const to = area(size + 0.5)
  // A point at most this far below its rank is always accepted; this avoids most evaluations of `area`.
  const safeDistance = 2 - inverse(area(2.5) - bar(2))
  return (random) => {
    for (;;) {
      const point = from + uniform(random) * (to - from)
      const x = inverse(point)
      const rank = Math.min(Math.max(Math.round(x), 1), size)
      if (rank - x <= safeDistance || point >= area(rank + 0.5) - bar(rank)) return rank
    }
  }
}

/** A distribution of network delays. */
export interface Delay {
  /** The minimum delay of a message in milliseconds. */
  readonly minMs: number
  /** The mean of the additional delay in milliseconds, which is exponentially distributed. */
  readonly meanMs: number
}

/** Draws the one-way delay of a message in milliseconds. */
export const delay = (random: Random, { minMs, meanMs }: Delay): number =>
  minMs + meanMs * exponential(random)
