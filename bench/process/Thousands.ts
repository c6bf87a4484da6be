/** Whole numbers for people. */

/** In groups of three. */
export const thousands = (count: number): string => count.toLocaleString("en").replaceAll(",", " ")

/** So many of a thing, such as "1 client" or "64 clients". */
export const counted = (count: number, thing: string): string =>
  `${thousands(count)} ${thing}${count === 1 ? "" : "s"}`
