/** Runs `animal-store` in its own process, without the settings in this process's environment. */
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

/** The path of the command line in a clone. */
export const main = fileURLToPath(new URL("./main.ts", import.meta.url))

export interface ProcessResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface ServerProcess {
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
  /** User id and group id. */
  readonly uid?: number
  /** The umask in octal digits. */
  readonly umask?: string
}

/** Maximum lifetime of a process in milliseconds, so that no process outlives a failed test. */
const LIFETIME_MS = 25_000

/** Collects the text of a stream, and waits for patterns in it. */
const listenTo = (stream: Readable) => {
  let text = ""
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk
  })
  const ended = new Promise<string>((resolve) => stream.once("close", () => resolve(text)))
  const waitFor = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const match = pattern.exec(text)
        if (match === null) return
        stream.off("data", check)
        resolve(match)
      }
      stream.on("data", check)
      stream.once("close", () => reject(new Error(`no match for ${pattern}: ${JSON.stringify(text)}`)))
      check()
    })
  return { ended, waitFor }
}

export const launch = (
  args: ReadonlyArray<string>,
  environment: Environment,
  { cwd, nodeFlags = [], uid, umask }: LaunchOptions
) => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_"))
  const command = [process.execPath, ...nodeFlags, main, ...args]
  const [file = "", ...rest] =
    umask === undefined ? command : ["sh", "-c", `umask ${umask} && exec "$0" "$@"`, ...command]
  const child = spawn(file, rest, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid, gid: uid }),
    // Most tests need no drain period.
    env: { ...Object.fromEntries(inherited), ANIMAL_STORE_DRAIN: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIFETIME_MS,
    killSignal: "SIGKILL"
  })
  const exit: Promise<[code: number | null, signal: NodeJS.Signals | null]> = new Promise((resolve) =>
    child.once("exit", (code, signal) => resolve([code, signal]))
  )
  const stdout = listenTo(child.stdout)
  const stderr = listenTo(child.stderr)
  const ended: Promise<ProcessResult> = Promise.all([exit, stdout.ended, stderr.ended]).then(
    ([[code, signal], out, err]) => ({ code, signal, stdout: out, stderr: err })
  )
  return { child, ended, stderr, stdout }
}

/** Runs a command until it exits. */
export const run = (
  args: ReadonlyArray<string>,
  environment: Environment = {},
  options: LaunchOptions = {}
): Promise<ProcessResult> => launch(args, environment, options).ended

/** Starts `serve` and waits until it listens; rejects with its output if it exits instead. */
export const start = async (
  args: ReadonlyArray<string>,
  environment: Environment = {},
  options: LaunchOptions = {}
): Promise<ServerProcess> => {
  const launchedAt = performance.now()
  const { child, ended, stderr, stdout } = launch(["serve", ...args], environment, options)
  const failed = ended.then((result) => Promise.reject(new Error(`exited early: ${JSON.stringify(result)}`)))
  failed.catch(() => undefined)
  const greeting = await Promise.race([stdout.waitFor(/^.*\n$/s), failed])
  const startupMs = performance.now() - launchedAt
  return { process: child, greeting: greeting[0], startupMs, waitForLog: stderr.waitFor, ended }
}

/** Stops a server with a signal and waits for its exit. */
export const stop = (server: ServerProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<ProcessResult> => {
  server.process.kill(signal)
  return server.ended
}
