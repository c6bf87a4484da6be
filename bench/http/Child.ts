/** A process of the bench, on a core of its own where the platform can pin it, that answers over IPC. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Where the measured servers run, and where what measures them does. */
export interface Cores {
  readonly server: number
  readonly load: number
}

/** Two of the cores that this process may use, or `undefined` where there are not two or nothing can pin. */
export const findCores = (): Cores | undefined => {
  try {
    const said = execFileSync("taskset", ["-cp", String(process.pid)], { encoding: "utf8", stdio: "pipe" })
    const ranges = (/([\d,-]+)\s*$/.exec(said)?.[1] ?? "").split(",").map((range) => range.split("-"))
    // First and last are furthest apart: neighbours may be two threads of one core.
    const server = Number(ranges[0]?.[0])
    const load = Number(ranges.at(-1)?.at(-1))
    return server < load ? { server, load } : undefined
  } catch {
    return undefined
  }
}

/** What to run. */
export interface Program {
  /** What errors call it. */
  readonly name: string
  readonly module: URL
  readonly arguments?: ReadonlyArray<string> | undefined
  readonly core?: number | undefined
  readonly nodeFlags?: ReadonlyArray<string> | undefined
}

/** Tells whether a message is what the program is known to send. */
export type Guard<A> = (message: unknown) => message is A

/** Whether a message has a number under that name, by which the kinds of messages are told apart. */
export const hasNumber = (message: unknown, name: string): boolean =>
  typeof message === "object" && message !== null && typeof Reflect.get(message, name) === "number"

/** A child that says nothing for so long is taken for stuck. */
const SILENCE_MS = 30_000

/** As much of its standard error as an error shows. */
const SHOWN = 4_000

const alive = new Set<Child>()

/** Ends all children that still run. */
export const stopAll = async (): Promise<void> => {
  await Promise.all([...alive].map((child) => child.stop()))
}

/** A running child. */
export class Child {
  readonly name: string
  readonly #process: ChildProcess
  readonly #closed: Promise<void>
  readonly #messages: Array<unknown> = []
  #failure: string | undefined
  #errors = ""
  #wake = (): void => undefined

  constructor({ arguments: given = [], core, module, name, nodeFlags = [] }: Program) {
    this.name = name
    const [command, ...rest] = [
      ...(core === undefined ? [] : ["taskset", "-c", String(core)]),
      process.execPath,
      ...nodeFlags,
      fileURLToPath(module),
      ...given
    ]
    this.#process = spawn(command ?? process.execPath, rest, { stdio: ["ignore", "ignore", "pipe", "ipc"] })
    alive.add(this)
    this.#process.on("message", (message) => {
      this.#messages.push(message)
      this.#wake()
    })
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-SHOWN)
    })
    this.#closed = new Promise((resolve) => {
      const fail = (what: string): void => {
        this.#failure ??= what
        alive.delete(this)
        resolve()
        this.#wake()
      }
      this.#process.on("error", (error) => fail(`could not be run: ${error.message}`))
      this.#process.on("close", (code, signal) => fail(`ended by itself (${signal ?? `code ${code}`})`))
    })
  }

  /** Its next message, within 30 s and what it was asked to take. */
  async receive<A>(guard: Guard<A>, takesMs = 0): Promise<A> {
    if (this.#messages.length === 0 && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          this.#failure = `was silent for ${SILENCE_MS / 1000} s`
          resolve()
        }, SILENCE_MS + takesMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const message = this.#messages.shift()
    if (guard(message)) return message
    const what = this.#failure ?? `sent what was not asked for: ${JSON.stringify(message)}`
    throw new Error([`${this.name} ${what}`, this.#errors.trim()].filter((text) => text !== "").join("\n"))
  }

  /** Its answer to an order. */
  ask<A>(order: object | string, guard: Guard<A>, takesMs?: number): Promise<A> {
    // A child that is gone is told by `receive`, with its reason.
    if (this.#process.connected) this.#process.send(order)
    return this.receive(guard, takesMs)
  }

  /** Ends it; nothing that it holds is worth keeping. */
  async stop(): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#closed
  }
}
