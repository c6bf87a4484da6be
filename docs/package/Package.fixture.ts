/** The package as users get it: the tarball, and the directory in which it is installed. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as readline from "node:readline"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url))

const fromSetup = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set: run npm run test:package`)
  return value
}

/** The packed package. */
export const tarball = fromSetup("ANIMAL_STORE_TEST_TARBALL")

/** The directory in which the package is installed. */
export const installation = fromSetup("ANIMAL_STORE_TEST_INSTALLATION")

/** The installed command. */
export const command = path.join(installation, "node_modules/.bin/animal-store")

/** Creates a directory within the installation, so that programs find the package, for one test. */
export const createDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(installation, "test-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  return directory
}

/** Runs a program in a directory until it ends. */
export const run = (cwd: string, program: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
  spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", ...env },
    timeout: 300_000,
    maxBuffer: 64 * 1024 * 1024
  })

/** A program that runs until the end of the test. */
export interface Running {
  readonly process: ChildProcess
  /** The first line of standard output that has the expected form. */
  readonly line: string
  /** Returns what the program has written to standard error. */
  readonly errors: () => string
}

/** Starts a program in a directory, and waits for a line of standard output. */
const start = async (
  cwd: string,
  program: string,
  args: ReadonlyArray<string>,
  until: RegExp,
  env: NodeJS.ProcessEnv = {}
): Promise<Running> => {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let errors = ""
  child.stderr.on("data", (chunk) => {
    errors += String(chunk)
  })
  for await (const line of readline.createInterface({ input: child.stdout })) {
    if (until.test(line)) return { process: child, line, errors: () => errors }
  }
  throw new Error(`${program} ended without a line like ${until}: ${errors}`)
}

/** A server of the installed command, and the secrets of the keys that it issued at its start. */
export interface Server extends Running {
  readonly url: string
  readonly secrets: ReadonlyArray<string>
}

/** Starts `animal-store serve` of the installation in a directory, on a free port. */
export const serve = async (
  cwd: string,
  keys: ReadonlyArray<string>,
  options: ReadonlyArray<string> = []
): Promise<Server> => {
  const args = ["serve", "--json", "--port", "0", ...keys.flatMap((key) => ["--issue-key", key]), ...options]
  const running = await start(cwd, command, args, /^\{"url":/)
  const { url, keys: issued }: { url: string; keys: ReadonlyArray<{ key: string }> } = JSON.parse(
    running.line
  )
  return { ...running, url, secrets: issued.map(({ key }) => key) }
}
