/** Defines the logging flags, and prints notices in the log format. */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ObservationOptions } from "../embed/index.ts"
import { isLogged, type LogThreshold, thresholds } from "../log/LogEvent.ts"
import * as LogFormat from "../log/LogFormat.ts"
import * as Setting from "./Setting.ts"

/** `--log-format`, `--log-level` and `--access-log`. */
export const flags = {
  logFormat: Setting.withDefault(
    "log-format",
    "FORMAT",
    "Format of log lines: text (logfmt) or json.",
    Setting.oneOf(LogFormat.formats),
    "text"
  ),
  logLevel: Setting.withDefault(
    "log-level",
    "LEVEL",
    `Minimum level to log: ${thresholds.join(", ")}.`,
    Setting.oneOf(thresholds),
    "info"
  ),
  accessLog: Setting.preference(
    "access-log",
    "Log a line for each response, except those to health checks. Default: on if standard error is a terminal."
  )
}

/** The parsed values of `flags`. */
export interface Values {
  readonly logFormat: (typeof LogFormat.formats)[number]
  readonly logLevel: LogThreshold
  readonly accessLog: Option.Option<boolean>
}

/** Returns the logging options of the store; `isTerminal` is true if standard error is a terminal. */
export const options = (
  { accessLog, logFormat, logLevel }: Values,
  isTerminal: boolean
): Pick<ObservationOptions, "logFormat" | "logLevel" | "accessLog"> => ({
  logFormat,
  logLevel,
  accessLog: Option.getOrElse(accessLog, () => isTerminal && isLogged("info", logLevel))
})

/** Prints a notice from the command to standard error in the log format, if the log level permits it. */
export const notice = (
  { logFormat, logLevel }: Values,
  message: string,
  level: "info" | "warn" = "info"
): Effect.Effect<void> => {
  if (!isLogged(level, logLevel)) return Effect.void
  if (logFormat === "text") return Console.error(`animal-store: ${message}`)
  return Effect.flatMap(Clock.currentTimeMillis, (time) =>
    Console.error(LogFormat.json({ time, level, message, fields: {} }))
  )
}
