/** Runs the commands of the bench, and turns failures into exit codes. */
import { stopAll } from "./Child.ts"

/** The command line is invalid. */
export class InvalidOptions extends Error {}

/** Parses the value of an option as a whole number above 0. */
export const count = (option: string, text: string): number => {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new InvalidOptions(`--${option}: must be a whole number above 0`)
}

/**
 * Returns the values whose name contains one of the comma-separated substrings (case-insensitive), or all values if
 * none is requested; throws `InvalidOptions` for a substring that no name contains.
 */
export const choose = <A extends { readonly name: string }>(
  option: string,
  from: ReadonlyArray<A>,
  requested = ""
): ReadonlyArray<A> => {
  const parts = requested
    .toLowerCase()
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
  const contains = ({ name }: A, part: string) => name.toLowerCase().includes(part)
  const unknown = parts.filter((part) => !from.some((value) => contains(value, part)))
  if (unknown.length > 0) {
    const names = from.map(({ name }) => name).join(", ")
    throw new InvalidOptions(`--${option}: unknown name ${unknown.join(", ")}; the names are ${names}`)
  }
  return parts.length === 0 ? from : from.filter((value) => parts.some((part) => contains(value, part)))
}

const messageOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [messageOf(error.cause)])].join("\n")
    : String(error)

/** Whether the command line is invalid, for `choose` and `count` or for `parseArgs` of `node:util`. */
const isInvalid = (error: unknown): boolean =>
  error instanceof InvalidOptions ||
  (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_"))

/** Runs a command with the arguments of this process, and sets the exit code. */
export const run = async (
  helpText: string,
  main: (args: Array<string>) => Promise<void> | void
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
    process.exitCode = isInterrupted ? 130 : isInvalid(error) ? 2 : 1
  } finally {
    await stopAll()
  }
}
