/** Formats the help of commands for the width of the terminal. */
import { styleText } from "node:util"
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Option from "effect/Option"
import type { Host } from "./Host.ts"

/** Columns if neither `COLUMNS` nor a terminal states the width. */
const DEFAULT_COLUMNS = 80

/** Indentation of a description below the name that it describes. */
const DESCRIPTION_INDENT = 6

/** Returns the function that formats help for the standard output of the host. */
export const formatter = ({ env, stdout }: Host): ((doc: HelpDoc.HelpDoc) => string) => {
  const width = columnsOf({ env, stdout })
  const bold = (text: string): string => styleText("bold", text, { stream: stdout })
  const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
    lines.length === 0 ? [] : [[bold(title), ...lines].join("\n")]
  const entry = (name: string, description: string): string =>
    [`  ${bold(name)}`, ...wrap(description, width, DESCRIPTION_INDENT)].join("\n")
  const flagEntry = (flag: HelpDoc.FlagDoc): string => entry(namesOf(flag), descriptionOf(flag))

  return ({ args = [], description, flags, globalFlags = [], subcommands = [], usage }) =>
    [
      ...section("DESCRIPTION", wrap(description, width, 2)),
      ...section("USAGE", wrap(usage, width, 2)),
      ...section(
        "ARGUMENTS",
        args.map((argument) => entry(argument.name, descriptionOf(argument)))
      ),
      ...section(
        "SUBCOMMANDS",
        subcommands.flatMap(({ commands }) =>
          commands.map((command) => entry(command.name, command.description))
        )
      ),
      ...section("FLAGS", flags.map(flagEntry)),
      ...section("GLOBAL FLAGS", globalFlags.map(flagEntry))
    ].join("\n\n")
}

const columnsOf = ({ env, stdout }: Pick<Host, "env" | "stdout">): number => {
  if (/^[1-9][0-9]{0,4}$/.test(env.COLUMNS ?? "")) return Number(env.COLUMNS)
  // A terminal that does not know its size has 0 columns.
  return (stdout.isTTY === true && stdout.columns) || DEFAULT_COLUMNS
}

/** Breaks text between words into indented lines of at most `width` columns; a longer word has a line of its own. */
const wrap = (text: string, width: number, indent: number): ReadonlyArray<string> => {
  const lines = new RegExp(`\\S.{0,${Math.max(0, width - indent - 1)}}(?= |$)|\\S+`, "g")
  return Array.from(text.matchAll(lines), ([line]) => " ".repeat(indent) + line)
}

/** Returns the names of a flag, with the placeholder of its value or, as `Setting` defines it, with its negation. */
const namesOf = ({ aliases, name, type }: HelpDoc.FlagDoc): string => {
  const isNegation = type.startsWith("--")
  const names = [`--${name}`, ...aliases, ...(isNegation ? [type] : [])].join(", ")
  return type === "boolean" || isNegation ? names : `${names} ${type}`
}

/** Returns a description without the choices that `effect/cli` appends: the placeholder contains them. */
const descriptionOf = ({ description }: HelpDoc.FlagDoc | HelpDoc.ArgDoc): string =>
  Option.getOrElse(description, () => "").replace(/ \(choices: [^)]*\)$/, "")
