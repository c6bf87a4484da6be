/** Defines log events as values, independent of their format. */

/** The levels, from the most to the least detailed. */
export const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const

/** The severity of an event. */
export type LogLevel = (typeof levels)[number]

/** The minimum level of logged events; `none` logs nothing. */
export type LogThreshold = Exclude<LogLevel, "fatal"> | "none"

/** The thresholds, from the most to the least detailed. */
export const thresholds = [
  "trace",
  "debug",
  "info",
  "warn",
  "error",
  "none"
] as const satisfies ReadonlyArray<LogThreshold>

/** The value of a field. */
export type FieldValue = string | number | boolean

/** An event to log. */
export interface LogEvent {
  /** Epoch milliseconds. */
  readonly time: number
  readonly level: LogLevel
  readonly message: string
  /** Details, such as `request` (the id of a request) and `error` (the reason for a failure). */
  readonly fields: { readonly [name: string]: FieldValue }
}

/** Whether events of a level are logged. */
export const isLogged = (level: LogLevel, threshold: LogThreshold): boolean =>
  threshold !== "none" && levels.indexOf(level) >= levels.indexOf(threshold)
