/** Formats API keys as a text table. */
import type { KeyStatus } from "../../embed/index.ts"
import { printable } from "../Printable.ts"
import * as KeyText from "./KeyText.ts"

interface Column {
  readonly title: string
  readonly alignment: "left" | "right"
  readonly cell: (key: KeyStatus, now: number) => string
}

// The label is the last column, because its display width depends on the terminal.
const columns: ReadonlyArray<Column> = [
  { title: "ID", alignment: "left", cell: ({ id }) => id },
  { title: "PLAN", alignment: "left", cell: ({ plan }) => plan },
  { title: "PER MINUTE", alignment: "right", cell: ({ limits }) => String(limits.perMinute) },
  { title: "PER DAY", alignment: "right", cell: ({ limits }) => String(limits.perDay) },
  { title: "CREATED", alignment: "left", cell: ({ createdAt }) => KeyText.time(createdAt) },
  { title: "STATE", alignment: "left", cell: (key, now) => KeyText.state(key, now) },
  { title: "LABEL", alignment: "left", cell: ({ label = "" }) => printable(label) }
]

/** Returns a header line and a line for each key, with the state of the key at `now` (epoch milliseconds). */
export const make = (keys: ReadonlyArray<KeyStatus>, now: number): string => {
  const rows = [
    columns.map(({ title }) => title),
    ...keys.map((key) => columns.map(({ cell }) => cell(key, now)))
  ]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  return rows
    .map((row) =>
      columns
        .map(({ alignment }, index) => {
          const [text = "", width = 0] = [row[index], widths[index]]
          return alignment === "right" ? text.padStart(width) : text.padEnd(width)
        })
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
