/** Runs the commands of the bench: parses options, prints help, and turns failures into exit codes. */
import { parseArgs } from "node:util"
import { stopAll } from "./Child.ts"

/** An option of a command. */
export interface Option {
  readonly type: "string" | "boolean"
  /** The name of its value in the help; absent for an option without a value. */
  readonly value?: string
  readonly what: string
  readonly default?: string
}

export type Options = { readonly [name: string]: Option }

/** Declares an option with a value, or without one. */
export const text = (value: string, what: string, preset?: string): Option => ({
  type: "string",
  value,
  what,
  ...(preset === undefined ? {} : { default: preset })
})
export const flag = (what: string): Option => ({ type: "boolean", what })

/** The values of the given options; options with a default always have one. */
export interface Given {
  readonly positionals: ReadonlyArray<string>
  readonly text: (name: string) => string | undefined
  /** Parses the value as a whole number above 0. */
  readonly count: (name: string) => number
  readonly has: (name: string) => boolean
}

/** The command line is invalid. */
export class InvalidOptions extends Error {}

/** Parses a command line; throws `InvalidOptions`. */
export const parse = (args: ReadonlyArray<string>, options: Options, allowPositionals = false): Given => {
  try {
    const config = Object.fromEntries(
      Object.entries(options).map(([name, { default: value, type }]) => [
        name,
        { type, ...(value === undefined ? {} : { default: value }) }
      ])
    )
    const { positionals, values } = parseArgs({ args: [...args], options: config, allowPositionals })
    const text = (name: string): string | undefined => {
      const value = values[name]
      return typeof value === "string" ? value : undefined
    }
    return {
      positionals,
      text,
      count: (name) => {
        const value = Number(text(name))
        if (Number.isInteger(value) && value > 0) return value
        throw new InvalidOptions(`--${name}: must be a whole number above 0`)
      },
      has: (name) => values[name] === true
    }
  } catch (error) {
    throw new InvalidOptions(messageOf(error))
  }
}

/** Formats the help: the usage, one line per option, and notes. */
export const help = (usage: string, options: Options, notes: string): string =>
  [
    usage,
    "",
    ...Object.entries(options).map(
      ([name, { default: preset, value = "", what }]) =>
        `  ${`--${name} ${value}`.padEnd(22)}${what}${preset === undefined ? "" : ` (default ${preset})`}`
    ),
    "  --help",
    "",
    notes
  ].join("\n")

/** Splits a comma-separated list of names. */
export const listOf = (text = ""): ReadonlyArray<string> =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/**
 * Returns the values whose name contains one of the requested substrings (case-insensitive), or all values if none is
 * requested; throws `InvalidOptions` for a substring that no name contains.
 */
export const choose = <A extends { readonly name: string }>(
  option: string,
  from: ReadonlyArray<A>,
  requested: ReadonlyArray<string>
): ReadonlyArray<A> => {
  const contains = ({ name }: A, part: string) => name.toLowerCase().includes(part.toLowerCase())
  const unknown = requested.filter((part) => !from.some((value) => contains(value, part)))
  if (unknown.length > 0) {
    const names = from.map(({ name }) => name).join(", ")
    throw new InvalidOptions(`--${option}: unknown name ${unknown.join(", ")}; the names are ${names}`)
  }
  return requested.length === 0
    ? from
    : from.filter((value) => requested.some((part) => contains(value, part)))
}

const messageOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [messageOf(error.cause)])].join("\n")
    : String(error)

/** Runs a command with the arguments of this process, and sets the exit code. */
export const run = async (
  helpText: string,
  main: (args: ReadonlyArray<string>) => Promise<void> | void
): Promise<void> => {
  const args = process.argv.slice(2)
  if (args.includes("--help")) {
    console.log(helpText)
    return
  }
  let isInterrupted = false
  // Stopping the children makes all pending waits fail, which starts cleanup; a second signal ends this process at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      isInterrupted = true
      void stopAll()
    })
  }
  try {
    await main(args)
  } catch (error) {
    console.error(isInterrupted ? "\ninterrupted" : messageOf(error))
    process.exitCode = isInterrupted ? 130 : error instanceof InvalidOptions ? 2 : 1
  } finally {
    await stopAll()
  }
}
