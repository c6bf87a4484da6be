/** Callers as the service names them to its stores. */

/** The name of a caller; each call makes a new string, as each request does. */
export const keyOf = (index: number): string => `key:key_${index.toString(36).padStart(11, "0")}`

/** Those from `start` on. */
export const keys = (start: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => keyOf(start + index))

const STRIDE = 7_919

/** A number below `size` for each `index`, so that neighbours are far apart. */
export const scattered = (index: number, size: number): number => (index * STRIDE) % size

/** Names of `count` callers out of `size`, the `start`th and on, in no order that memory would like. */
export const scatteredKeys = (start: number, count: number, size: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => keyOf(scattered(start + index, size)))
