/** Runs commands inside the test process, with the given environment and streams; nothing is inherited. */
import { EventEmitter } from "node:events"
import * as path from "node:path"
import { Readable, Writable } from "node:stream"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { onTestFinished } from "vitest"
import * as Capture from "./Capture.fixture.ts"
import * as CommandLine from "./CommandLine.ts"
import * as Greeting from "./Greeting.fixture.ts"
import type * as Host from "./Host.ts"
import type * as ProcessLimits from "./ProcessLimits.ts"
import { type Environment, main, serverDefaults } from "./Serve.fixture.ts"

export interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  /** Standard input; empty by default. */
  readonly input?: string | AsyncIterable<Uint8Array>
  /** Whether standard output and standard error are a terminal; false by default. */
  readonly isTerminal?: boolean
  /** The error of each write to standard output or standard error, as on a full disk. */
  readonly failure?: { readonly stdout?: Error; readonly stderr?: Error }
  /** The limits of the system; none by default. */
  readonly limits?: Partial<ProcessLimits.ProcessLimits>
}

interface Started {
  readonly stdout: Capture.Capture
  readonly stderr: Capture.Capture
  readonly ended: Promise<Result>
  /** Interrupts the command, as the first stop signal does; each further call is another signal. */
  readonly interrupt: () => void
}

/** The services of Node, which all commands of the test process share. */
const runtime = ManagedRuntime.make(NodeServices.layer)

/** Maximum number of columns of a line on the terminal. */
const COLUMNS = 200

const outputTo = (capture: Capture.Capture, isTTY: boolean, failure: Error | undefined): Host.Output => {
  const stream = new Writable({
    decodeStrings: false,
    autoDestroy: false,
    write: (chunk: string | Uint8Array, _, done) => {
      if (failure === undefined) capture.add(String(chunk))
      done(failure)
    }
  })
  // As for the standard error of a process: a failed write must not crash it.
  if (failure !== undefined) stream.on("error", () => undefined)
  return Object.assign(stream, { isTTY, columns: COLUMNS })
}

/** Starts a command. */
export const launch = (
  args: ReadonlyArray<string>,
  env: Environment = {},
  { failure = {}, input = "", isTerminal = false, limits = {} }: Options = {}
): Started => {
  const [stdout, stderr] = [Capture.make(), Capture.make()]
  const signals = new EventEmitter()
  const host: Host.Host = {
    args,
    env: { ...serverDefaults, ...env },
    // Messages suggest commands for the root of the clone.
    start: { script: main, cwd: path.resolve(path.dirname(main), "../.."), commandDirectories: [] },
    stdin: typeof input === "string" ? Readable.from(input === "" ? [] : [Buffer.from(input)]) : input,
    stdout: outputTo(stdout, isTerminal, failure.stdout),
    stderr: outputTo(stderr, isTerminal, failure.stderr),
    signals,
    log: (line) => stderr.add(`${line}\n`),
    limits: { openFiles: undefined, memoryBytes: undefined, heapBytes: 2 ** 32, ...limits }
  }
  const abort = new AbortController()
  const ended = runtime.runPromiseExit(CommandLine.run(host), { signal: abort.signal }).then(
    (exit) =>
      new Promise<Result>((resolve) =>
        CommandLine.teardown(args)(exit, (code) => {
          stdout.end()
          stderr.end()
          resolve({ code, stdout: stdout.text(), stderr: stderr.text() })
        })
      )
  )
  const interrupt = (): void => {
    if (abort.signal.aborted) signals.emit("SIGTERM")
    else abort.abort()
  }
  return { stdout, stderr, ended, interrupt }
}

/** Runs a command until it ends. */
export const run = (
  args: ReadonlyArray<string>,
  env: Environment = {},
  options: Options = {}
): Promise<Result> => launch(args, env, options).ended

/** Runs a command, expects success without output to standard error, and returns standard output. */
export const succeed = async (
  args: ReadonlyArray<string>,
  env: Environment = {},
  options: Options = {}
): Promise<string> => {
  const { code, stderr, stdout } = await run(args, env, options)
  if (code !== 0 || stderr !== "") throw new Error(`${args.join(" ")}: exit code ${code}: ${stderr}`)
  return stdout
}

/** Runs a command with `--json`, expects exactly one line, and returns its value. */
export const json = async <A>(
  args: ReadonlyArray<string>,
  env: Environment = {},
  options: Options = {}
): Promise<A> => {
  const stdout = await succeed([...args, "--json"], env, options)
  const value: A = JSON.parse(stdout)
  if (stdout !== `${JSON.stringify(value)}\n`) throw new Error(`not one line of JSON: ${stdout}`)
  return value
}

/** Milliseconds between two signals; some are ignored as duplicates. */
const SIGNAL_MS = 100

/** A server inside the test process. */
export interface Server extends Greeting.Announced {
  /** The text that the server printed to standard output when it listened. */
  readonly greeting: string
  /** Waits until standard error matches the pattern. */
  readonly waitForLog: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Interrupts the server as a stop signal does, without waiting. */
  readonly interrupt: () => void
  readonly ended: Promise<Result>
  /** Sends signals until the server has ended, even during a drain; returns its exit code and its output. */
  readonly stop: () => Promise<Result>
}

/** Starts `serve` on a free port, waits until it listens, and stops it after the test; rejects if it ends instead. */
export const serve = async (
  args: ReadonlyArray<string>,
  env: Environment = {},
  options: Options = {}
): Promise<Server> => {
  const { ended, interrupt, stderr, stdout } = launch(
    ["serve", "--port", "0", ...args],
    { ANIMAL_STORE_DATABASE: "memory:", ...env },
    options
  )
  const stop = (): Promise<Result> => {
    interrupt()
    const timer = setInterval(interrupt, SIGNAL_MS)
    return ended.finally(() => clearInterval(timer))
  }
  onTestFinished(async () => void (await stop()))
  const [greeting] = await stdout.waitFor(/^.*\n$/s).catch(async () => {
    throw new Error(`ended early: ${JSON.stringify(await ended)}`)
  })
  return { ...Greeting.read(greeting), greeting, waitForLog: stderr.waitFor, interrupt, ended, stop }
}

/** Starts a server that announces its address and its keys as JSON. */
export const serveJson = (
  args: ReadonlyArray<string> = [],
  env: Environment = {},
  options: Options = {}
): Promise<Server> => serve(["--json", ...args], env, options)
