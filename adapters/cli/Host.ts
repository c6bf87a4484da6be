/** The parts of the process that a command uses. Tests replace them, to run commands inside their own process. */
import type { Writable } from "node:stream"
import * as Context from "effect/Context"
import * as Invocation from "./Invocation.ts"
import * as ProcessLimits from "./ProcessLimits.ts"

/** A stream for output. It may be a terminal, which has a width. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Emits an event named after each signal. */
export interface Signals {
  readonly prependOnceListener: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly once: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly off: (signal: NodeJS.Signals, listener: () => void) => unknown
}

/** The arguments, environment, streams, signals and limits of a command. */
export interface Host {
  /** The arguments of the program, without its own name. */
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** How the command line was started, for messages that suggest commands. */
  readonly start: Invocation.Start
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: Output
  readonly stderr: Output
  /** Emits the stop signals that arrive while the command is running. */
  readonly signals: Signals
  /** Receives the log lines of stores; if it is `undefined`, stores write them to the standard error of the process. */
  readonly log: ((line: string) => void) | undefined
  readonly limits: ProcessLimits.ProcessLimits
}

/** Returns the host of a command that has this process to itself. */
export const current = (): Host => ({
  args: process.argv.slice(2),
  env: definedIn(process.env),
  start: Invocation.current(),
  // Opened when they are first used: opening standard input would keep a server from exiting.
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  signals: process,
  log: undefined,
  // Read only by `serve`.
  get limits() {
    return ProcessLimits.current()
  }
})

const definedIn = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )

/** The host of the running command. */
export const Host: Context.Reference<Host> = Context.Reference("animal-store/cli/Host", {
  defaultValue: current
})
