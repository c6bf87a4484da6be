/** Formats events as lines, in logfmt or JSON. A line contains no control character and no line separator. */
import type { FieldValue, LogEvent } from "./LogEvent.ts"
import * as Style from "./Style.ts"

/** The names of all formats. */
export const formats = ["text", "json", "columns"] as const

/**
 * The name of a format: `text` is logfmt, `json` is one JSON object per line, and `columns` is logfmt with an access log
 * for terminals.
 */
export type LogFormatName = (typeof formats)[number]

/** Formats an event as a line, without a line break. */
export type LogFormat = (event: LogEvent) => string

/**
 * Formats an event in logfmt; values that are not simple words, paths or numbers are quoted as JSON strings.
 *
 * @example
 * ```ts
 * text({ time: 0, level: "info", message: "key issued", fields: { plan: "Pro" } })
 * // timestamp=1970-01-01T00:00:00.000Z level=INFO message="key issued" plan=Pro
 * ```
 */
export const text: LogFormat = ({ fields, level, message, time }) => {
  let line = `timestamp=${timestamp(time)} level=${level.toUpperCase()} message=${valueOf(message)}`
  for (const [name, value] of Object.entries(fields)) line += ` ${name}=${valueOf(value)}`
  return line
}

/** Formats an event as a JSON object: `time`, `level`, `message`, and its fields, with `_` after reserved names. */
export const json: LogFormat = ({ fields, level, message, time }) =>
  escapeUnprintable(JSON.stringify({ time: timestamp(time), level, message, ...withoutReserved(fields) }))

/**
 * Returns the format for terminals with 100 columns: the lines of the access log have the time in UTC, and no request
 * id; other lines are logfmt.
 */
export const columns = (style: Style.Style): LogFormat => {
  const colorOf = (status: number) =>
    status >= 500 ? style.red : status >= 400 ? style.yellow : status >= 200 ? style.green : style.dim
  return (event) => {
    const { code = "", key, method, ms, network = "", path = "", route = path, status = 0 } = event.fields
    if (method === undefined || ms === undefined) return text(event)
    const color = colorOf(Number(status))
    const parts = [
      style.dim(timestamp(event.time).slice(11, 19)),
      color(status === 0 ? "---" : String(status)),
      String(method).padEnd(7),
      cut(valueOf(route), 27).padEnd(27),
      cut(`${Number(ms).toFixed(1)} ms`, 11).padStart(11),
      style.dim(cut(String(key ?? network), 15).padEnd(15)),
      color(cut(status === 0 ? "disconnected" : String(code), 23))
    ]
    return parts.join(" ").trimEnd()
  }
}

const cut = (value: string, length: number): string =>
  value.length <= length ? value : `${value.slice(0, length - 1)}…`

/** Returns the format with this name; `hasColor` applies to `columns`. */
export const named = (name: LogFormatName, hasColor = false): LogFormat =>
  name === "columns" ? columns(Style.of(hasColor)) : name === "json" ? json : text

const MAX_TIME = 8.64e15

/** Formats a time in ISO 8601, or as a plain number if it is outside the range of dates. */
const timestamp = (time: number): string =>
  Math.abs(time) <= MAX_TIME ? new Date(time).toISOString() : String(time)

/** Appends `_` to the names of fields that are also names of standard members. */
const withoutReserved = (fields: LogEvent["fields"]): LogEvent["fields"] =>
  "time" in fields || "level" in fields || "message" in fields
    ? Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [reserved.has(name) ? `${name}_` : name, value])
      )
    : fields

const reserved = new Set(["time", "level", "message"])

const unquoted = /^[A-Za-z0-9_./:+{}-]+$/

const valueOf = (value: FieldValue): string => {
  const plain = String(value)
  return unquoted.test(plain) ? plain : escapeUnprintable(JSON.stringify(plain))
}

// Control characters, format characters such as text direction marks, line separators and lone surrogates. In JSON
// they occur only within strings.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escapeUnprintable = (jsonText: string): string =>
  jsonText.replace(unprintable, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`
    ).join("")
  )
