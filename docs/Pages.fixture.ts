/** Reads the shell commands of the documentation, and runs them. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, onTestFinished } from "vitest"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../", import.meta.url))

/** Reads a file in the repository. */
export const read = (name: string): string => fs.readFileSync(path.join(root, name), "utf8")

/** The pages whose shell commands are marked as run or as not run. */
export const pages = [
  "README.md",
  ".github/CONTRIBUTING.md",
  "docs/using.md",
  "docs/operating.md",
  "docs/console.md",
  "docs/moving-data.md",
  "docs/conformance.md",
  "docs/conformance/ci.md",
  "docs/embedding.md",
  "docs/deploying/README.md",
  "docs/deploying/kubernetes.md",
  "docs/performance/README.md",
  "docs/releasing.md"
]

/** A block of shell commands; tests run it by its `name`, or `reason` states why no test runs it. */
export interface Block {
  readonly page: string
  readonly name: string | undefined
  readonly reason: string | undefined
  readonly code: string
}

/** All blocks of shell commands on the pages. */
export const blocks: ReadonlyArray<Block> = pages.flatMap((page) =>
  [
    ...read(page).matchAll(
      /^( *)(?:<!-- (?:run: ([a-z]+)|not run: ([^\n]+)) -->\n *)?```sh\n([\s\S]*?)^ *```$/gm
    )
  ].map(([, indent = "", name, reason, code = ""]) => ({
    page,
    name,
    reason,
    code: code.replaceAll(new RegExp(`^${indent}`, "gm"), "")
  }))
)

/** Returns the commands in the block with this name, one per line. */
export const commandsOf = (name: string): ReadonlyArray<string> => {
  const found = blocks.filter((block) => block.name === name)
  if (found.length !== 1) throw new Error(`expected one block named ${name}, found ${found.length}`)
  return (found[0]?.code ?? "").replaceAll("\\\n", " ").trim().split("\n")
}

/** Runs a shell command, by default in the root of the repository, with a timeout of three minutes. */
export const shell = (command: string, cwd = root, environment: NodeJS.ProcessEnv = {}) =>
  spawnSync("sh", ["-c", command], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...environment },
    timeout: 180_000,
    maxBuffer: 64 * 1024 * 1024
  })

/** Creates a directory that is removed after the test. */
export const createDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-docs-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

const isInstalled = (command: string): boolean => shell(`command -v ${command}`).status === 0

/** Describes tests that need commands on the machine; skips them with a title that names the missing commands. */
export const describeWith = (commands: ReadonlyArray<string>, title: string, tests: () => void): void => {
  const missing = commands.filter((command) => !isInstalled(command))
  if (missing.length === 0) describe(title, tests)
  else describe.skip(`${title} (skipped: not installed: ${missing.join(", ")})`, tests)
}
