/** `animal-store serve` as a process of its own, watched from outside. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { Inspection } from "./Inspection.ts"

const command = fileURLToPath(new URL("../../adapters/cli/main.ts", import.meta.url))
const inspection = new URL("./Inspection.ts", import.meta.url).href

export interface StartOptions {
  readonly database: string
  readonly arguments?: ReadonlyArray<string>
  /** Limit of the old generation of V8's heap. */
  readonly heapMb?: number
  /** Where the log goes: a file descriptor, or a pipe that is read (the default). */
  readonly log?: number
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A plan with limits that no load reaches. */
export const UNLIMITED = "Enterprise:perMinute=1000000000,perDay=1000000000"

const PAGE_BYTES = 4_096
const START_MS = 30_000
const INSPECTION_MS = 10_000

/** Whether memory and descriptors of a process can be read here. */
export const canWatch = existsSync("/proc/self/statm")

const alive = new Set<ChildProcess>()

/** Stops all running servers. */
export const stopAll = (): void => {
  for (const child of alive) child.kill("SIGKILL")
}

/** As in docs/deploying. By default, Node lets the young generation grow with the machine's memory. */
const YOUNG_GENERATION = "--max-semi-space-size=16"

/** As in docs/deploying: with several arenas, glibc keeps more of the freed buffers of sockets. */
const ALLOCATOR = { MALLOC_ARENA_MAX: "1" }

export class AttackedServer {
  readonly origin: string
  readonly port: number
  /** Secrets of the keys that were issued at start. */
  readonly keys: ReadonlyArray<string>
  readonly ended: Promise<Ended>
  readonly #child: ChildProcess
  readonly #log: () => string

  private constructor(
    child: ChildProcess,
    greeting: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> },
    ended: Promise<Ended>,
    log: () => string
  ) {
    this.origin = new URL(greeting.url).origin
    this.port = Number(new URL(greeting.url).port)
    this.keys = greeting.keys.map(({ key }) => key)
    this.ended = ended
    this.#child = child
    this.#log = log
  }

  /** Starts it and waits until it listens. */
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
    alive.add(child)
    const ended = new Promise<Ended>((resolve) => {
      child.once("exit", (code, signal) => {
        alive.delete(child)
        resolve({ code, signal })
      })
    })
    const stderr = tail(child.stderr)
    const greeting = await firstLine(child, ended, stderr)
    return new AttackedServer(child, JSON.parse(greeting), ended, stderr)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The end of its log. */
  get log(): string {
    return this.#log()
  }

  /** Breaks the pipe of its log. */
  closeLog(): void {
    this.#child.stderr?.destroy()
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  stop(signal: NodeJS.Signals = "SIGKILL"): Promise<Ended> {
    this.kill(signal)
    return this.ended
  }

  /** Bytes of memory that the process occupies; 0 when it has ended. */
  rss(): number {
    return readProc(() => Number(readFileSync(`/proc/${this.pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES)
  }

  /** Open file descriptors; 0 when it has ended. */
  descriptors(): number {
    return readProc(() => readdirSync(`/proc/${this.pid}/fd`).length)
  }

  /** Its memory and handles after a garbage collection; `undefined` if it has ended or does not respond in time. */
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
      void this.ended.then(() => settle(undefined))
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

/** Maximum number of characters of a log in an error. */
const SHOWN = 2_000

const tail = (stream: Readable | null): (() => string) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-SHOWN)
  })
  return () => text
}

const firstLine = (child: ChildProcess, ended: Promise<Ended>, log: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    const fail = (what: string): void => reject(new Error(`the server ${what}\n${log()}`))
    const timer = setTimeout(() => fail("does not start"), START_MS)
    void ended.then(({ code, signal }) => fail(`ended (${signal ?? `code ${code}`})`))
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (!text.includes("\n")) return
      clearTimeout(timer)
      resolve(text)
    })
  })
