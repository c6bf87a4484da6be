/** Generates seeded pseudo-random numbers: the same seed gives the same sequence on every machine. */

/** Returns the next number, at least 0 and less than 1. */
export type Random = () => number

/** Creates a generator with the algorithm "mulberry32" by Tommy Ettinger. */
export const seeded = (seed: number): Random => {
  let state = Math.trunc(seed)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a uniformly distributed whole number from 0 to `size` - 1. */
export const integerBelow = (random: Random, size: number): number => Math.floor(random() * size)

/** Returns an exponentially distributed number with mean 1. */
export const exponential = (random: Random): number => -Math.log(1 - random())

/** Returns a number from 0 to less than 1 with 53 random bits; 32 bits are too few to draw 10⁸ keys evenly. */
const uniform = (random: Random): number => {
  const high = Math.floor(random() * 2 ** 27)
  const low = Math.floor(random() * 2 ** 26)
  return (high * 2 ** 26 + low) / 2 ** 53
}

/**
 * Creates a function that draws ranks from 1 to `size` from a Zipf distribution with exponent 1: rank r is drawn in
 * proportion to 1 / r. Draws are exact, need no table, and take constant expected time. The algorithm is
 * rejection-inversion by W. Hörmann and G. Derflinger (1996): it inverts the area under the hat 1 / x, and rejects
 * points above the bar of their rank. The bar of rank 1 needs no hat: its area is used exactly.
 */
export const zipf = (size: number): ((random: Random) => number) => {
  const from = Math.log(1.5) - 1
  const to = Math.log(size + 0.5)
  // A point at most this far below its rank is always accepted; this avoids most logarithms.
  const safeDistance = 2 - Math.exp(Math.log(2.5) - 1 / 2)
  return (random) => {
    for (;;) {
      const point = from + uniform(random) * (to - from)
      const x = Math.exp(point)
      const rank = Math.min(Math.max(Math.round(x), 1), size)
      if (rank - x <= safeDistance || point >= Math.log(rank + 0.5) - 1 / rank) return rank
    }
  }
}
