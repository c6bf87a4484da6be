/** Replaces integers of a failing case by boundaries, because fast-check's shrinking ends at arbitrary integers. */

/** Absolute values at which implementations often start to fail: limits of integer types and of exact doubles. */
const boundaries: ReadonlyArray<bigint> = [
  2n ** 7n,
  2n ** 8n,
  2n ** 15n,
  2n ** 16n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 62n,
  2n ** 63n - 1n
].flatMap((size) => [size, -size])

const size = (value: bigint): bigint => (value < 0n ? -value : value)

const smaller = (value: bigint): ReadonlyArray<bigint> => boundaries.filter((one) => size(one) < size(value))

/**
 * Returns copies of a case in which one `bigint` is replaced by a boundary of smaller absolute value, the smallest
 * first. Other values stay the same.
 */
export const simpler = (given: unknown): ReadonlyArray<unknown> => {
  if (typeof given === "bigint") return smaller(given)
  if (Array.isArray(given)) {
    return given.flatMap((element, at) => simpler(element).map((one) => given.with(at, one)))
  }
  if (typeof given !== "object" || given === null || Object.getPrototypeOf(given) !== Object.prototype)
    return []
  return Object.entries(given).flatMap(([name, member]) =>
    simpler(member).map((one) => ({ ...given, [name]: one }))
  )
}
