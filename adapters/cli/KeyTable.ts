/** Formats API keys as a text table. */
import type { ApiKey } from "../embed/index.ts"
import { printable } from "./Printable.ts"

interface Column {
  readonly title: string
  readonly alignment: "left" | "right"
  readonly cell: (key: ApiKey, now: number) => string
}

// The label is the last column, because its display width depends on the terminal.
const columns: ReadonlyArray<Column> = [
  { title: "ID", alignment: "left", cell: ({ id }) => id },
  { title: "PLAN", alignment: "left", cell: ({ plan }) => plan },
  { title: "PER MINUTE", alignment: "right", cell: ({ limits }) => String(limits.perMinute) },
  { title: "PER DAY", alignment: "right", cell: ({ limits }) => String(limits.perDay) },
  { title: "CREATED", alignment: "left", cell: ({ createdAt }) => time(createdAt) },
  { title: "STATE", alignment: "left", cell: (key, now) => stateOf(key, now) },
  { title: "LABEL", alignment: "left", cell: ({ label = "" }) => printable(label) }
]

/** Returns a header line and a line for each key; `now` (epoch milliseconds) determines which keys are rotating. */
export const make = (keys: ReadonlyArray<ApiKey>, now: number): string => {
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

/** Formats epoch milliseconds as ISO 8601 in UTC; times out of range stay numbers. */
export const time = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}

const stateOf = ({ revokedAt, secrets }: ApiKey, now: number): string => {
  if (revokedAt !== undefined) return `revoked at ${time(revokedAt)}`
  const expiring = secrets.find(({ expiresAt }) => expiresAt !== undefined && expiresAt > now)
  return expiring?.expiresAt === undefined ? "active" : `rotating until ${time(expiring.expiresAt)}`
}
