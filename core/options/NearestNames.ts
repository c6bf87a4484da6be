/** Finds the known names that are similar to a misspelled name. */

/** Maximum number of inserted, deleted or replaced characters. */
const MAX_EDITS = 2

/**
 * Returns the known names within two edits of `given`, nearest first. Differences in case, `-` and `_` are ignored, so
 * that the names of flags and environment variables are also recognized.
 *
 * @example
 * ```ts
 * nearestNames("databse", ["database", "limits"]) // ["database"]
 * ```
 */
export const nearestNames = (given: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const candidates = known.map((name) => ({ name, distance: distanceBetween(given, name) }))
  return candidates
    .filter(({ distance }) => distance <= MAX_EDITS)
    .sort((a, b) => a.distance - b.distance)
    .map(({ name }) => name)
}

const distanceBetween = (given: string, name: string): number =>
  // A much longer name cannot be similar, and the cost of a comparison grows with the product of the lengths.
  given.length > 2 * (name.length + MAX_EDITS)
    ? Number.POSITIVE_INFINITY
    : Math.min(editDistance(given, name), editDistance(letters(given), letters(name)))

const letters = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, "")

/** Returns the Levenshtein distance in characters (code points). */
const editDistance = (fromText: string, toText: string): number => {
  const from = [...fromText]
  const to = [...toText]
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = distanceAt(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, distanceAt(previous, column) + 1, distanceAt(current, column - 1) + 1))
    }
    previous = current
  }
  return distanceAt(previous, to.length)
}

const distanceAt = (row: ReadonlyArray<number>, column: number): number =>
  row[column] ?? Number.POSITIVE_INFINITY
