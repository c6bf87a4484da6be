/** `animal-store` as a process of its own, with nothing of this process's environment that could set it up. */
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("./main.ts", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly process: ChildProcess
  /** What standard output holds once the server listens. */
  readonly greeting: string
  /** Milliseconds from the start of the process to the greeting. */
  readonly startedIn: number
  /** Waits for standard error to say this. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
}

export type Environment = { readonly [name: string]: string }

/** Where a process runs, and as whom. */
export interface Place {
  readonly cwd?: string
  /** The number of a user and of a group. */
  readonly uid?: number
  /** What the modes of new files leave out, in octal digits. */
  readonly umask?: string
}

/** Longest life of a process, so that none outlives a test that failed. */
const LIFETIME_MS = 25_000

/** Keeps what a stream said, and lets others wait for it to say something. */
const listenTo = (stream: Readable) => {
  let said = ""
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk
  })
  const ended = new Promise<string>((resolve) => stream.once("close", () => resolve(said)))
  const says = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(said)
        if (match === null) return
        stream.off("data", look)
        resolve(match)
      }
      stream.on("data", look)
      stream.once("close", () => reject(new Error(`never said ${pattern}: ${JSON.stringify(said)}`)))
      look()
    })
  return { ended, says }
}

export const launch = (args: ReadonlyArray<string>, environment: Environment, { cwd, uid, umask }: Place) => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_"))
  const command = [process.execPath, main, ...args]
  const [file = "", ...rest] =
    umask === undefined ? command : ["sh", "-c", `umask ${umask} && exec "$0" "$@"`, ...command]
  const child = spawn(file, rest, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid, gid: uid }),
    // Without a drain period, for which most tests need not wait.
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
  const ended: Promise<Ended> = Promise.all([exit, stdout.ended, stderr.ended]).then(
    ([[code, signal], out, err]) => ({ code, signal, stdout: out, stderr: err })
  )
  return { child, ended, stderr, stdout }
}

/** Runs to the end. */
export const run = (
  args: ReadonlyArray<string>,
  environment: Environment = {},
  place: Place = {}
): Promise<Ended> => launch(args, environment, place).ended

/** Runs `serve` until it listens; rejects with its output when it ends instead. */
export const start = async (
  args: ReadonlyArray<string>,
  environment: Environment = {},
  place: Place = {}
): Promise<Started> => {
  const launchedAt = performance.now()
  const { child, ended, stderr, stdout } = launch(["serve", ...args], environment, place)
  const failed = ended.then((end) => Promise.reject(new Error(`ended early: ${JSON.stringify(end)}`)))
  failed.catch(() => undefined)
  const greeting = await Promise.race([stdout.says(/^.*\n$/s), failed])
  const startedIn = performance.now() - launchedAt
  return { process: child, greeting: greeting[0], startedIn, says: stderr.says, ended }
}

/** Ends a server as a supervisor does. */
export const stop = (server: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> => {
  server.process.kill(signal)
  return server.ended
}
