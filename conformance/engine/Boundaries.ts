/** Replaces integers in a failing case with boundaries, because fast-check shrinks to arbitrary integers. */

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
].flatMap((value) => [value, -value])

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

const smaller = (value: bigint): ReadonlyArray<bigint> =>
  boundaries.filter((boundary) => absolute(boundary) < absolute(value))

/**
 * Returns copies of a case, each with one `bigint` replaced with a boundary of smaller absolute value, the smallest
 * first.
 */
export const simpler = (given: unknown): ReadonlyArray<unknown> => {
  if (typeof given === "bigint") return smaller(given)
  if (Array.isArray(given)) {
    return given.flatMap((element, at) => simpler(element).map((variant) => given.with(at, variant)))
  }
  if (typeof given !== "object" || given === null || Object.getPrototypeOf(given) !== Object.prototype)
    return []
  return Object.entries(given).flatMap(([name, member]) =>
    simpler(member).map((variant) => ({ ...given, [name]: variant }))
  )
}
