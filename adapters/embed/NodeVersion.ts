/** Checks whether Node is new enough. This module imports nothing, so that an old Node can run it. */

/**
 * Returns an error message if `version` is below the minimum of `range` (such as `>=22.19.0`), otherwise `undefined`.
 *
 * @example
 * ```ts
 * findProblem("20.20.2", ">=22.19.0") // "Node 22.19.0 or newer is required; this is Node 20.20.2"
 * ```
 */
export const findProblem = (version: string, range: string): string | undefined => {
  const minimum = range.replace(">=", "")
  return isBelow(numbersOf(version), numbersOf(minimum))
    ? `Node ${minimum} or newer is required; this is Node ${version}`
    : undefined
}

const numbersOf = (version: string): ReadonlyArray<number> =>
  version.split(".").map((part) => Number.parseInt(part, 10))

const isBelow = (
  [major = 0, minor = 0, patch = 0]: ReadonlyArray<number>,
  [minMajor = 0, minMinor = 0, minPatch = 0]: ReadonlyArray<number>
): boolean =>
  major !== minMajor ? major < minMajor : minor !== minMinor ? minor < minMinor : patch < minPatch
