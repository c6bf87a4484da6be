/** Builds the command lines that messages suggest, so that a user can run them in the current directory. */
import * as path from "node:path"

/** How this process was started. */
export interface Start {
  /** Absolute path of the started script; a source file (`.ts`) means that this is a clone of the repository. */
  readonly script: string
  /** The working directory. */
  readonly cwd: string
  /** The directories in `PATH`, where a shell looks for commands. */
  readonly commandDirectories: ReadonlyArray<string>
}

/** Returns how this process was started. */
export const current = (): Start => ({
  script: process.argv[1] ?? "animal-store",
  cwd: process.cwd(),
  commandDirectories: (process.env.PATH ?? "").split(path.delimiter)
})

/** The npm script that runs each command in a clone. */
const npmScripts = new Map([
  ["serve", "npm start"],
  ["keys", "npm run keys"],
  ["conformance", "npm run conformance"]
])

/**
 * Returns the shell command that runs `animal-store` with `args`.
 *
 * @example
 * ```ts
 * commandLine(current(), ["keys", "list"]) // "npx animal-store keys list", or "npm run keys -- list" in a clone
 * ```
 */
export const commandLine = (start: Start, args: ReadonlyArray<string>): string => {
  const [command = "", ...rest] = args
  const npmScript = isInCloneRoot(start) ? npmScripts.get(command) : undefined
  if (npmScript === undefined) return [program(start), ...args].join(" ")
  return rest.length === 0 ? npmScript : [npmScript, "--", ...rest].join(" ")
}

/** Replaces each quoted `animal-store` command in a string with the command line for `start`. */
export const localize = (start: Start, text: string): string =>
  text.replaceAll(
    /'animal-store((?: [^']+)?)'/g,
    (_text, args: string) => `'${commandLine(start, args.split(" ").slice(1))}'`
  )

const isSource = ({ script }: Start): boolean => script.endsWith(".ts")

// The source of the command is two directories below the root.
const isInCloneRoot = (start: Start): boolean =>
  isSource(start) && path.resolve(path.dirname(start.script), "../..") === path.resolve(start.cwd)

const program = (start: Start): string => {
  const { commandDirectories, cwd, script } = start
  const directory = path.dirname(script)
  const parts = directory.split(path.sep)
  if (!isSource(start)) {
    // npm adds this directory to `PATH` for its scripts only; the user's shell does not find commands in it.
    if (parts.at(-1) === ".bin" && parts.at(-2) === "node_modules") return "npx animal-store"
    if (commandDirectories.includes(directory)) return path.parse(script).name
    if (parts.includes("node_modules")) return "npx animal-store"
  }
  const relative = path.relative(cwd, script)
  return `node ${quote(relative.startsWith("..") ? script : relative)}`
}

/** Quotes a text for a shell if necessary. */
export const quote = (text: string): string =>
  /^[\w./:\\@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
