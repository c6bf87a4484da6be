/** The flags of the log. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ObservationOptions } from "../embed/index.ts"
import { isLogged, type LogThreshold, thresholds } from "../log/LogEvent.ts"
import { formats } from "../log/LogFormat.ts"
import * as Setting from "./Setting.ts"

const oneOf =
  <const Word extends string>(words: ReadonlyArray<Word>): Setting.Parse<Word> =>
  (text) => {
    const word = words.find((candidate) => candidate === text)
    return word === undefined ? Result.fail(`must be one of ${words.join(", ")}`) : Result.succeed(word)
  }

/** The flags. */
export const flags = {
  logFormat: Setting.withDefault(
    "log-format",
    "FORMAT",
    "Format of log lines: text (logfmt) or json.",
    oneOf(formats),
    "text"
  ),
  logLevel: Setting.withDefault(
    "log-level",
    "LEVEL",
    `The least severe level that is logged: ${thresholds.join(", ")}.`,
    oneOf(thresholds),
    "info"
  ),
  accessLog: Setting.preference(
    "access-log",
    "Log a line for each response, except those to health checks; default: if standard error is a terminal."
  )
}

/** The values of the flags. */
export interface Values {
  readonly logFormat: (typeof formats)[number]
  readonly logLevel: LogThreshold
  readonly accessLog: Option.Option<boolean>
}

/** Returns the options of the store; `isTerminal` is whether standard error is a terminal. */
export const options = (
  { accessLog, logFormat, logLevel }: Values,
  isTerminal: boolean
): Pick<ObservationOptions, "logFormat" | "logLevel" | "accessLog"> => ({
  logFormat,
  logLevel,
  accessLog: Option.getOrElse(accessLog, () => isTerminal && isLogged("info", logLevel))
})
