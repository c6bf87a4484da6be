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

/** The exponent of the Zipf distributions: rank r is drawn in proportion to 1 / r. */
export const ZIPF_EXPONENT = 1

/** Creates a function that draws ranks from 0 to `size` - 1 from a Zipf distribution: a few often, most rarely. */
export const zipf = (size: number): ((random: Random) => number) => {
  const cumulative = new Float64Array(size)
  let total = 0
  for (let rank = 0; rank < size; rank++) {
    total += (rank + 1) ** -ZIPF_EXPONENT
    cumulative[rank] = total
  }
  return (random) => {
    const drawn = random() * total
    let [low, high] = [0, size - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((cumulative[middle] ?? total) > drawn) high = middle
      else low = middle + 1
    }
    return low
  }
}
