/** Creates the keys of callers, in the form in which the service passes them to its stores. */

/** Returns the key of a caller; each call creates a new string, as each request does. */
export const keyOf = (index: number): string => `key:key_${index.toString(36).padStart(11, "0")}`

/** Returns the keys of `count` callers from index `start` on. */
export const keys = (start: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => keyOf(start + index))

const STRIDE = 7_919

/** Maps `index` to a number below `size`; consecutive indexes are mapped far apart. */
export const scattered = (index: number, size: number): number => (index * STRIDE) % size

/** Returns the keys of `count` callers out of `size`, scattered so that processor caches do not help. */
export const scatteredKeys = (start: number, count: number, size: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => keyOf(scattered(start + index, size)))
