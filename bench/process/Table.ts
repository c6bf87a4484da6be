/** Formats figures as a text table. */

import { thousands } from "../Thousands.ts"
import type { Figure } from "./Figure.ts"

/** Formats one line per figure, in columns; times per call are followed by calls per second. */
export const render = (figures: ReadonlyArray<Figure>): string => {
  const rows = figures.map(({ group, high, low, name, unit, value }) => [
    group,
    name,
    number(value),
    unit,
    `${number(low)} – ${number(high)}`,
    unit === "ns" ? `${number(1e9 / value)} per second` : ""
  ])
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0
          return isNumeric(column) ? cell.padStart(width) : cell.padEnd(width)
        })
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

const isNumeric = (column: number): boolean => column === 2 || column >= 4

/** Formats a number without decimals from 100 on, with one from 10 on, otherwise with two. */
const number = (value: number): string => {
  const fraction = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return thousands(Number(value.toFixed(fraction)))
}
