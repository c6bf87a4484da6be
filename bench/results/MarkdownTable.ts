/** Formats tables and figures in Markdown. */
import type { Spread } from "./Spread.ts"

const cell = (text: string): string => text.replaceAll("|", "\\|")

/** Formats a table: the first column is text, all other columns are figures. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => [
  `| ${head.map(cell).join(" | ")} |`,
  `|---|${"---:|".repeat(head.length - 1)}`,
  ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
  ""
]

/** Formats a number with one decimal from 10 on, otherwise with two. */
export const short = (value: number): string => value.toFixed(value >= 10 ? 1 : 2)

/** Formats the median, with the middle half in parentheses. */
export const spread = (show: (value: number) => string, { high, low, median }: Spread): string =>
  `${show(median)} (${show(low)}–${show(high)})`
