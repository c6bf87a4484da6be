/** Numbers written in lower-case letters: names with digits or signs may be refused, names of letters hardly. */

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
