/** Formats numbers and counts for reports. */

/** Formats a number with commas between groups of three digits. */
export const thousands = (value: number): string => value.toLocaleString("en")

/** Rounds to a whole number, and formats it with commas between groups of three digits. */
export const wholeThousands = (value: number): string => thousands(Math.round(value))

/** Formats a count with its noun, such as "1 client" or "64 clients". */
export const formatCount = (count: number, noun: string): string =>
  `${thousands(count)} ${noun}${count === 1 ? "" : "s"}`
