/** Replaces integers in a failing case with boundary values, because fast-check shrinks to arbitrary integers. */

/** Absolute values at which implementations often start to fail: limits of integer types and of exact doubles. */
const boundaryValues: ReadonlyArray<bigint> = [
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

const smallerBoundaryValues = (value: bigint): ReadonlyArray<bigint> =>
  boundaryValues.filter((candidate) => absolute(candidate) < absolute(value))

/**
 * Returns copies of a case. In each copy, one `bigint` is replaced by a boundary value that is nearer to zero. Copies
 * for the same `bigint` begin with the smallest boundary value.
 */
export const simplerCases = (given: unknown): ReadonlyArray<unknown> => {
  if (typeof given === "bigint") return smallerBoundaryValues(given)
  if (Array.isArray(given)) {
    return given.flatMap((element, index) =>
      simplerCases(element).map((variant) => given.with(index, variant))
    )
  }
  if (typeof given !== "object" || given === null || Object.getPrototypeOf(given) !== Object.prototype)
    return []
  return Object.entries(given).flatMap(([name, member]) =>
    simplerCases(member).map((variant) => ({ ...given, [name]: variant }))
  )
}
