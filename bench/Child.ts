/** Runs child processes that exchange messages over IPC, pinned to a core if the platform supports it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The cores for the measured server and the load generator. */
export interface Cores {
  readonly server: number
  readonly load: number
}

/**
 * Returns two of the cores that this process may use, or `undefined` if it may use only one core or if `taskset` is
 * not installed.
 */
export const findCores = (): Cores | undefined => {
  try {
    const affinity = execFileSync("taskset", ["-cp", String(process.pid)], {
      encoding: "utf8",
      stdio: "pipe"
    })
    const ranges = (/([\d,-]+)\s*$/.exec(affinity)?.[1] ?? "").split(",").map((range) => range.split("-"))
    // The first and the last core, because adjacent cores may be two threads of one physical core.
    const server = Number(ranges[0]?.[0])
    const load = Number(ranges.at(-1)?.at(-1))
    return server < load ? { server, load } : undefined
  } catch {
    return undefined
  }
}

/** The module that a child runs. */
export interface Program {
  /** Its name in error messages. */
  readonly name: string
  readonly module: URL
  readonly arguments?: ReadonlyArray<string> | undefined
  readonly core?: number | undefined
  readonly nodeFlags?: ReadonlyArray<string> | undefined
}

/** Checks that a message has the expected form. */
export type Guard<A> = (message: unknown) => message is A

/** Whether a message has a number in the field `name`; such fields distinguish the kinds of messages. */
export const hasNumber = (message: unknown, name: string): boolean =>
  typeof message === "object" && message !== null && typeof Reflect.get(message, name) === "number"

/** Timeout in milliseconds for a message from a child, in addition to the time of its task. */
const SILENCE_MS = 30_000

/** Number of characters from the end of a child's standard error that an error message contains. */
const ERROR_CHARACTERS = 4_000

const alive = new Set<Child>()

/** Stops all children that are still running. */
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
      this.#errors = (this.#errors + text).slice(-ERROR_CHARACTERS)
    })
    this.#closed = new Promise((resolve) => {
      const fail = (reason: string): void => {
        this.#failure ??= reason
        alive.delete(this)
        resolve()
        this.#wake()
      }
      this.#process.on("error", (error) => fail(`process error: ${error.message}`))
      this.#process.on("close", (code, signal) => fail(`exited unexpectedly (${signal ?? `code ${code}`})`))
    })
  }

  /** Returns the next message; fails if the child exits, sends another message, or takes 30 s more than `takesMs`. */
  async receive<A>(guard: Guard<A>, takesMs = 0): Promise<A> {
    if (this.#messages.length === 0 && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          this.#failure = `sent no message for ${(SILENCE_MS + takesMs) / 1000} s`
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
    const reason = this.#failure ?? `sent an unexpected message: ${JSON.stringify(message)}`
    throw new Error([`${this.name} ${reason}`, this.#errors.trim()].filter((text) => text !== "").join("\n"))
  }

  /** Sends a command and returns its result. */
  execute<A>(command: object | string, guard: Guard<A>, takesMs?: number): Promise<A> {
    // If the child has exited, `receive` reports the reason.
    if (this.#process.connected) this.#process.send(command)
    return this.receive(guard, takesMs)
  }

  /** Kills the process and waits until it has exited. */
  async stop(): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#closed
  }
}
