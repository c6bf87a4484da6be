/** Numbers as text for people. */

/** Digits in groups of three. */
export const thousands = (value: number): string => value.toLocaleString("en").replaceAll(",", " ")

/** The nearest whole number, with digits in groups of three. */
export const wholeThousands = (value: number): string => thousands(Math.round(value))

/** A count with its noun, such as "1 client" or "64 clients". */
export const counted = (count: number, thing: string): string =>
  `${thousands(count)} ${thing}${count === 1 ? "" : "s"}`
