/** How the command line reports errors: on standard error, one line each; help is printed only when asked for. */
import * as Console from "effect/Console"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Layer from "effect/Layer"

const standard = CliOutput.defaultFormatter()

const formatError = (error: CliError.CliError): string => `animal-store: ${standard.formatCliError(error)}`

const formatter: CliOutput.Formatter = {
  ...standard,
  formatError,
  formatErrors: (errors) => errors.map(formatError).join("\n")
}

const presenter: CliOutput.Presenter = {
  present: (event) => {
    if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
    const hint = `Run '${event.commandPath.join(" ")} --help' to see what is possible.`
    const isUsageClear = event.errors.every(({ _tag }) => _tag === "ValidationError")
    return Console.error(formatter.formatErrors(event.errors) + (isUsageClear ? "" : `\n${hint}`))
  }
}

/** What errors look like, and where they go. */
export const layer = Layer.merge(CliOutput.layer(formatter), CliOutput.layerPresenter(presenter))
