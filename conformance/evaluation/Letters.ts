/** Numbers written in lower-case letters, because some servers reject names with digits or signs. */

/**
 * `a`, `b`, …, `z`, `aa`, `ab`, …: a different word for each whole number from 0.
 *
 * @example
 * ```ts
 * of(27) // "ab"
 * ```
 */
export const of = (number: number): string =>
  number < 26 ? String.fromCharCode(97 + number) : of(Math.floor(number / 26) - 1) + of(number % 26)
