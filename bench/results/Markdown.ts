/** Formats numbers and tables in Markdown. */
import type { Spread } from "../Spread.ts"

/** Formats a number with commas between groups of three digits. */
export const thousands = (value: number): string => Math.round(value).toLocaleString("en")

/** Formats a number with one decimal from 10 on, otherwise with two. */
const short = (value: number): string => value.toFixed(value >= 10 ? 1 : 2)

/** Formats the median, with the middle half in parentheses. */
export const spread = ({ high, low, median }: Spread): string =>
  `${short(median)} (${short(low)}–${short(high)})`

const row = (cells: ReadonlyArray<string>): string =>
  `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`

/** Formats a table: the first column is text, all other columns are figures. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => [row(head), `|---|${"---:|".repeat(head.length - 1)}`, ...rows.map(row), ""]

/** Replaces the text between two markers of a page; each marker is a line of its own. */
export const replaceBetween = (page: string, begin: string, end: string, text: string): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page lacks ${begin} or ${end}`)
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`
}
