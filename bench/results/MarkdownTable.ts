/** Tables and figures in Markdown. */
import type { Spread } from "./Spread.ts"

const cell = (text: string): string => text.replaceAll("|", "\\|")

/** A table whose first column is text and whose other columns are figures. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => [
  `| ${head.map(cell).join(" | ")} |`,
  `|---|${"---:|".repeat(head.length - 1)}`,
  ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
  ""
]

/** Three significant digits, as far as there are. */
export const short = (value: number): string => value.toFixed(value >= 10 ? 1 : 2)

/** The median, with the middle half in parentheses. */
export const spread = (show: (value: number) => string, { high, low, median }: Spread): string =>
  `${show(median)} (${show(low)}–${show(high)})`
