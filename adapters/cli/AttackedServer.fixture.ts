/** Starts `animal-store serve` in its own process, and observes the process from outside. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import type { Inspection } from "./Inspection.fixture.ts"

const command = fileURLToPath(new URL("./main.ts", import.meta.url))
const inspection = new URL("./Inspection.fixture.ts", import.meta.url).href

export interface StartOptions {
  readonly database: string
  readonly arguments?: ReadonlyArray<string>
  /** Limit of V8's old generation in megabytes. */
  readonly heapMb?: number
  /** The file descriptor for the log; by default, a pipe that this process reads. */
  readonly log?: number
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const PAGE_BYTES = 4_096
const START_MS = 120_000
const INSPECTION_MS = 60_000

/** Whether the memory and descriptors of a process can be read on this machine (from `/proc`). */
export const canWatch = existsSync("/proc/self/statm")

/** Maximum memory in bytes; a server above it is killed before it exhausts the machine's memory. */
const MAX_RSS = 2_000_000_000
const SAMPLE_INTERVAL_MS = 100

/**
 * Limits the young generation of V8's heap, as docs/deploying recommends; by default, its size depends on the memory of
 * the machine.
 */
const YOUNG_GENERATION = "--max-semi-space-size=16"

/** Makes glibc use one arena, as docs/deploying recommends; several arenas retain more freed socket buffers. */
const ALLOCATOR = { MALLOC_ARENA_MAX: "1" }

export class AttackedServer {
  readonly origin: string
  readonly port: number
  /** The secrets of the keys that were issued at startup. */
  readonly keys: ReadonlyArray<string>
  readonly exited: Promise<Exit>
  readonly #child: ChildProcess
  readonly #log: () => string

  private constructor(
    child: ChildProcess,
    greeting: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> },
    exited: Promise<Exit>,
    log: () => string
  ) {
    this.origin = new URL(greeting.url).origin
    this.port = Number(new URL(greeting.url).port)
    this.keys = greeting.keys.map(({ key }) => key)
    this.exited = exited
    this.#child = child
    this.#log = log
  }

  /** Starts a server and waits until it listens; it is killed after the current test. */
  static async start({
    arguments: given = [],
    database,
    heapMb,
    log
  }: StartOptions): Promise<AttackedServer> {
    const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]
    const flags = [...heap, YOUNG_GENERATION, "--expose-gc", "--import", inspection]
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_"))
    const child = spawn(
      process.execPath,
      [...flags, command, "serve", "--json", "--port", "0", "--database", database, ...given],
      {
        env: { ...Object.fromEntries(inherited), ...ALLOCATOR },
        stdio: ["ignore", "pipe", log ?? "pipe", "ipc"]
      }
    )
    onTestFinished(() => void child.kill("SIGKILL"))
    const exited = new Promise<Exit>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }))
    })
    const stderr = followTail(child.stderr)
    const greeting = await readFirstLine(child, exited, stderr)
    return new AttackedServer(child, JSON.parse(greeting), exited, stderr)
  }

  /** The secret of the first key that was issued at startup. */
  get key(): string {
    return this.keys[0] ?? ""
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The last `LOG_CHARACTERS` characters of the server's log. */
  get log(): string {
    return this.#log()
  }

  /** Closes the reading end of the pipe to which the server logs. */
  closeLog(): void {
    this.#child.stderr?.destroy()
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  stop(signal: NodeJS.Signals = "SIGKILL"): Promise<Exit> {
    this.kill(signal)
    return this.exited
  }

  /** Returns the resident memory of the process in bytes, or 0 if it has exited. */
  rss(): number {
    return readProc(() => Number(readFileSync(`/proc/${this.pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES)
  }

  /** Samples the memory until the returned function is called, which returns the maximum in bytes. */
  watch(): () => number {
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, this.rss())
      if (peak > MAX_RSS) this.kill("SIGKILL")
    }, SAMPLE_INTERVAL_MS)
    return () => {
      clearInterval(timer)
      return peak
    }
  }

  /** Returns the number of open file descriptors, or 0 if the process has exited. */
  descriptors(): number {
    return readProc(() => readdirSync(`/proc/${this.pid}/fd`).length)
  }

  /** Returns memory and handles after a garbage collection, or `undefined` if the server does not respond in time. */
  inspect(): Promise<Inspection | undefined> {
    if (!this.#child.connected) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const settle = (inspected: Inspection | undefined): void => {
        clearTimeout(timer)
        this.#child.off("message", settle)
        resolve(inspected)
      }
      const timer = setTimeout(settle, INSPECTION_MS, undefined)
      this.#child.once("message", settle)
      void this.exited.then(() => settle(undefined))
      this.#child.send("inspect", () => undefined)
    })
  }
}

const readProc = (read: () => number): number => {
  try {
    return read()
  } catch {
    return 0
  }
}

/** Number of characters from the end of the log that error messages contain. */
const LOG_CHARACTERS = 2_000

/** Returns a function that returns the end of what the stream has sent so far. */
const followTail = (stream: Readable | null): (() => string) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-LOG_CHARACTERS)
  })
  return () => text
}

const readFirstLine = (child: ChildProcess, exited: Promise<Exit>, log: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    const fail = (what: string): void => reject(new Error(`the server ${what}\n${log()}`))
    const timer = setTimeout(() => fail("did not start in time"), START_MS)
    void exited.then(({ code, signal }) => fail(`exited (${signal ?? `code ${code}`})`))
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (!text.includes("\n")) return
      clearTimeout(timer)
      resolve(text)
    })
  })
