/** The command line that runs this program again in the user's current directory, for hints. */
import * as path from "node:path"

/** How this process was started. */
export interface Start {
  /** Absolute path of the started script; a source file (`.ts`) belongs to a clone. */
  readonly script: string
  /** The working directory. */
  readonly cwd: string
  /** The folders in which a shell finds commands. */
  readonly commandFolders: ReadonlyArray<string>
}

/** The start of this process. */
export const current = (): Start => ({
  script: process.argv[1] ?? "animal-store",
  cwd: process.cwd(),
  commandFolders: (process.env.PATH ?? "").split(path.delimiter)
})

/** The npm scripts of a clone that run a command. */
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
  const npmScript = isInRootOfClone(start) ? npmScripts.get(command) : undefined
  if (npmScript === undefined) return [program(start), ...args].join(" ")
  return rest.length === 0 ? npmScript : [npmScript, "--", ...rest].join(" ")
}

/** Replaces each quoted `animal-store` command in a text by one that works here. */
export const localized = (start: Start, text: string): string =>
  text.replaceAll(
    /'animal-store((?: [^']+)?)'/g,
    (_text, args: string) => `'${commandLine(start, args.split(" ").slice(1))}'`
  )

const isSource = ({ script }: Start): boolean => script.endsWith(".ts")

// The source of the command is two folders below the root.
const isInRootOfClone = (start: Start): boolean =>
  isSource(start) && path.resolve(path.dirname(start.script), "../..") === path.resolve(start.cwd)

const program = (start: Start): string => {
  const { commandFolders, cwd, script } = start
  const folder = path.dirname(script)
  const parts = folder.split(path.sep)
  if (!isSource(start)) {
    // npm scripts add this folder to the command folders, but their user's shell does not have it.
    if (parts.at(-1) === ".bin" && parts.at(-2) === "node_modules") return "npx animal-store"
    if (commandFolders.includes(folder)) return path.parse(script).name
    if (parts.includes("node_modules")) return "npx animal-store"
  }
  const relative = path.relative(cwd, script)
  return `node ${quoted(relative.startsWith("..") ? script : relative)}`
}

const quoted = (text: string): string =>
  /^[\w./:\\@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
