/** Runs `animal-store` in its own process, without the settings in this process's environment. */
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Capture from "./Capture.fixture.ts"
import * as Greeting from "./Greeting.fixture.ts"

/** The path of the command line in a clone. */
export const main = fileURLToPath(new URL("./main.ts", import.meta.url))

export interface ProcessResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface ServerProcess extends Greeting.Announced {
  readonly process: ChildProcess
  /** The text that the server printed to standard output when it listened. */
  readonly greeting: string
  /** Milliseconds from the start of the process to the greeting. */
  readonly startupMs: number
  /** Waits until standard error matches the pattern. */
  readonly waitForLog: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<ProcessResult>
}

export type Environment = { readonly [name: string]: string }

export interface LaunchOptions {
  readonly nodeFlags?: ReadonlyArray<string>
  readonly cwd?: string
  readonly uid?: number
  /** The group; without it, it has the number of the user. */
  readonly gid?: number
  /** The umask in octal digits. */
  readonly umask?: string
  /** Standard input; empty by default. The test writes to it, and ends it, with "open". */
  readonly input?: string | "open"
  /** A file descriptor for standard error, which is then not captured. */
  readonly stderr?: number
}

export interface Launched {
  readonly child: ChildProcess
  readonly stdout: Capture.Capture
  readonly stderr: Capture.Capture
  readonly ended: Promise<ProcessResult>
}

/** Maximum lifetime of a process in milliseconds, so that no process outlives a failed test. */
const LIFETIME_MS = 300_000

/** The settings of servers in tests: no drain period, and a long database timeout, because the machine may be busy. */
export const serverDefaults: Environment = { ANIMAL_STORE_DRAIN: "0", ANIMAL_STORE_DATABASE_TIMEOUT: "60s" }

/** The environment of child processes: the settings of the command line are removed. */
export const environment: Environment = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(?:ANIMAL_STORE|OTEL)_/.test(name) ? [] : [[name, value]]
    )
  ),
  ANIMAL_STORE_DRAIN: "0"
}

/** Starts a command. */
export const launch = (
  args: ReadonlyArray<string>,
  settings: Environment = {},
  { cwd, gid, input = "", nodeFlags = [], stderr: stderrFile, uid, umask }: LaunchOptions = {}
): Launched => {
  const command = [process.execPath, ...nodeFlags, main, ...args]
  const [file = "", ...rest] =
    umask === undefined ? command : ["sh", "-c", `umask ${umask} && exec "$0" "$@"`, ...command]
  const child = spawn(file, rest, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid, gid: gid ?? uid }),
    env: { ...environment, ...settings },
    stdio: ["pipe", "pipe", stderrFile ?? "pipe"],
    timeout: LIFETIME_MS,
    killSignal: "SIGKILL"
  })
  // A command that exits early does not read its input; writing to it then fails.
  child.stdin?.on("error", () => undefined)
  if (input !== "open") child.stdin?.end(input)
  const exit: Promise<[code: number | null, signal: NodeJS.Signals | null]> = new Promise((resolve) =>
    child.once("exit", (code, signal) => resolve([code, signal]))
  )
  const [stdout, stderr] = [Capture.ofStream(child.stdout), Capture.ofStream(child.stderr)]
  const ended: Promise<ProcessResult> = Promise.all([exit, stdout.ended, stderr.ended]).then(
    ([[code, signal], out, err]) => ({ code, signal, stdout: out, stderr: err })
  )
  return { child, ended, stderr, stdout }
}

/** Runs a command until it exits. */
export const run = (
  args: ReadonlyArray<string>,
  settings: Environment = {},
  options: LaunchOptions = {}
): Promise<ProcessResult> => launch(args, settings, options).ended

/** Starts `serve` and waits until it listens; rejects with its output if it exits instead. */
export const start = async (
  args: ReadonlyArray<string>,
  settings: Environment = {},
  options: LaunchOptions = {}
): Promise<ServerProcess> => {
  const launchedAt = performance.now()
  const { child, ended, stderr, stdout } = launch(
    ["serve", ...args],
    { ...serverDefaults, ...settings },
    options
  )
  const [greeting] = await stdout.waitFor(/^.*\n$/s).catch(async () => {
    throw new Error(`exited early: ${JSON.stringify(await ended)}`)
  })
  const startupMs = performance.now() - launchedAt
  return {
    ...Greeting.read(greeting),
    process: child,
    greeting,
    startupMs,
    waitForLog: stderr.waitFor,
    ended
  }
}

/** Stops a server with a signal and waits for its exit. */
export const stop = (server: ServerProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<ProcessResult> => {
  server.process.kill(signal)
  return server.ended
}
