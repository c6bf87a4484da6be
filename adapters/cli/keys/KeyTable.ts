/** Formats API keys as a text table. */
import type { KeyStatus } from "../../embed/index.ts"
import { printable } from "../Printable.ts"
import * as KeyText from "./KeyText.ts"

interface Column {
  readonly title: string
  readonly alignment: "left" | "right"
  readonly cell: (key: KeyStatus, now: number) => string
}

// Accounts and labels are the last columns, because their display width depends on the terminal.
const columns: ReadonlyArray<Column> = [
  { title: "ID", alignment: "left", cell: ({ id }) => id },
  { title: "PLAN", alignment: "left", cell: ({ plan }) => plan },
  { title: "PER MINUTE", alignment: "right", cell: ({ limits }) => String(limits.perMinute) },
  { title: "PER DAY", alignment: "right", cell: ({ limits }) => String(limits.perDay) },
  { title: "CREATED", alignment: "left", cell: ({ createdAt }) => KeyText.time(createdAt) },
  { title: "STATE", alignment: "left", cell: (key, now) => KeyText.state(key, now) },
  { title: "ACCOUNT", alignment: "left", cell: ({ account = "" }) => printable(account) },
  { title: "LABEL", alignment: "left", cell: ({ label = "" }) => printable(label) }
]

/** Returns a header line and a line for each key, with the state of the key at `now` (epoch milliseconds). */
export const make = (keys: ReadonlyArray<KeyStatus>, now: number): string => {
  const hasAccounts = keys.some(({ account }) => account !== undefined)
  const shown = columns.filter(({ title }) => hasAccounts || title !== "ACCOUNT")
  const rows = [
    shown.map(({ title }) => title),
    ...keys.map((key) => shown.map(({ cell }) => cell(key, now)))
  ]
  // Not `Math.max(...)`, because 130,000 arguments overflow the stack.
  const widths = shown.map((_, index) =>
    rows.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), 0)
  )
  return rows
    .map((row) =>
      shown
        .map(({ alignment }, index) => {
          const [text = "", width = 0] = [row[index], widths[index]]
          return alignment === "right" ? text.padStart(width) : text.padEnd(width)
        })
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
