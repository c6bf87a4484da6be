/** Prints results to standard output, errors as single lines to standard error, and help only on request. */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Predicate from "effect/Predicate"
import * as EffectEvent from "../log/EffectEvent.ts"
import type { LogFormatName } from "../log/LogFormat.ts"
import * as LogFormat from "../log/LogFormat.ts"
import * as CommandExit from "./CommandExit.ts"
import * as Failure from "./Failure.ts"
import * as Help from "./Help.ts"
import { Host } from "./Host.ts"
import * as Invocation from "./Invocation.ts"

const standard = CliOutput.defaultFormatter()

const messageOf = (error: CliError.CliError): string =>
  error._tag === "UnexpectedArgument" ? unexpected(error.arguments) : standard.formatCliError(error)

/** Omits the arguments: they may be the rest of a secret, such as an unquoted `Authorization: Bearer TOKEN`. */
const unexpected = ({ length }: ReadonlyArray<string>): string =>
  `${length} unexpected positional ${length === 1 ? "argument" : "arguments"}; quote a value that contains spaces`

/** Formats help, and errors and log events in the log format of the command, and prints them to standard error. */
export const layer = (name: LogFormatName): Layer.Layer<never> =>
  Layer.unwrap(
    Effect.map(Effect.all([Clock.Clock, Host]), ([clock, host]) => {
      const { start, stderr } = host
      const formatError = (error: CliError.CliError): string => {
        const message = messageOf(error)
        if (name === "text") return `animal-store: ${message}`
        return LogFormat.json({ time: clock.currentTimeMillisUnsafe(), level: "error", message, fields: {} })
      }
      const formatter: CliOutput.Formatter = {
        ...standard,
        formatHelpDoc: Help.formatter(host),
        formatError,
        formatErrors: (errors) => errors.map(formatError).join("\n")
      }
      const presenter: CliOutput.Presenter = {
        present: (event) => {
          if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
          const errors = formatter.formatErrors(event.errors)
          const isUsage = event.errors.some(({ _tag }) => _tag !== "ValidationError")
          if (!isUsage || name === "json") return Console.error(errors)
          const help = Invocation.commandLine(start, [...event.commandPath.slice(1), "--help"])
          return Console.error(`${errors}\nRun '${help}' for usage.`)
        }
      }
      const format = LogFormat.named(name)
      const logger = Logger.make((options) => {
        const event = EffectEvent.capture(options)
        stderr.write(`${format(EffectEvent.toLogEvent({ event, count: 1, withinMs: 0, isMixed: false }))}\n`)
      })
      return Layer.mergeAll(
        CliOutput.layer(formatter),
        CliOutput.layerPresenter(presenter),
        Logger.layer([logger])
      )
    })
  )

/**
 * Prints a line to standard output and waits until it is written. Fails if it cannot be written, for example on a full
 * disk, because the line may be a secret that is shown only once. `consequence` is appended to the error message. If
 * the reader has gone and nothing is lost, as with `| head -1`, the command ends quietly.
 */
export const print = (line: string, consequence = ""): Effect.Effect<void, WriteFailed> =>
  write(`${line}\n`, consequence)

/** The failure of a write to standard output. */
export type WriteFailed = CliError.UserError | CommandExit.CommandExit

/** Like `print`, without the line feed. */
export const write = (text: string, consequence = ""): Effect.Effect<void, WriteFailed> =>
  Effect.flatMap(Host, ({ stdout }) =>
    Effect.callback((resume) => {
      // The callback handles the error, but without a listener the event would crash the process.
      const ignore = (): void => undefined
      stdout.on("error", ignore)
      stdout.write(text, (error) => {
        if (error == null) stdout.off("error", ignore)
        resume(error == null ? Effect.void : failureOf(error, consequence))
      })
    })
  )

/** The exit code that a shell reports for a program that SIGPIPE has ended, which Node ignores. */
const BROKEN_PIPE = 128 + 13

const failureOf = (error: Error, consequence: string): Effect.Effect<void, WriteFailed> =>
  consequence === "" && Predicate.hasProperty(error, "code") && error.code === "EPIPE"
    ? CommandExit.withCode(BROKEN_PIPE)
    : Effect.fail(
        Failure.userError(new Error(`cannot write to standard output: ${error.message}${consequence}`))
      )
