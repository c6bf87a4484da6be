/** Encodes numbers as lower-case letters, because some servers reject names with digits or punctuation. */

/**
 * Returns a different word for each whole number from 0: `a`, `b`, …, `z`, `aa`, `ab`, ….
 *
 * @example
 * ```ts
 * of(27) // "ab"
 * ```
 */
export const of = (number: number): string =>
  number < 26 ? String.fromCharCode(97 + number) : of(Math.floor(number / 26) - 1) + of(number % 26)
