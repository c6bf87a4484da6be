/**
 * Runs the conformance suite from a program: creates subjects, and returns reports as promises.
 *
 * @example
 * ```ts
 * const subject = await server({ url: "http://127.0.0.1:3000/v1", keys: { main: key } })
 * const report = await check(subject, { level: "spec" })
 * process.exitCode = report.exitCode
 * ```
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Report } from "./engine/Report.ts"
import * as Run from "./engine/Run.ts"
import { SetupError } from "./engine/SetupError.ts"
import * as FetchTransport from "./http/FetchTransport.ts"
import type * as ServerClock from "./http/ServerClock.ts"
import { NoResponse } from "./http/Wire.ts"
import type { PortTarget } from "./ports/PortTarget.ts"
import type { Budget } from "./subjects/HttpSubject.ts"
import * as HttpSubject from "./subjects/HttpSubject.ts"
import * as PortSubject from "./subjects/PortSubject.ts"
import * as ServerTarget from "./subjects/ServerTarget.ts"
import type { Subject } from "./subjects/Subject.ts"

/** The options that `server` and `handler` share. */
export interface ServerOptions {
  /** The name in reports; the address by default. */
  readonly name?: string | undefined
  readonly keys: HttpSubject.Keys
  readonly declared?: Partial<HttpSubject.Declarations> | undefined
  readonly budget?: Partial<Budget> | undefined
}

/** Creates a subject from storage ports; a layer must build a new, empty store each time. */
export const ports: (options: PortTarget) => Subject = PortSubject.make

/**
 * Creates a subject from a running server. You must own the server: a run creates animals, uses up limits and gets a
 * key banned. `clock` moves the server's time: the address of a test clock, or a clock in this process. Rejects with
 * `SetupError` if an address is invalid.
 */
export const server = async ({
  clock,
  url,
  ...options
}: ServerOptions & {
  readonly url: string
  readonly clock?: string | MovableClock | undefined
}): Promise<Subject> => {
  const target = ServerTarget.make({
    ...options,
    name: options.name ?? url,
    url: addressOf(url, "url"),
    clock: typeof clock === "string" ? addressOf(clock, "clock") : clock && serverClockOf(clock)
  })
  // Idle connections of an agent do not keep a process alive, so they need not be closed.
  return HttpSubject.make(await Effect.runPromise(Scope.provide(target, Scope.makeUnsafe())))
}

/** A clock that the program moves itself. */
export interface MovableClock {
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number
  /** Moves the clock forward by `ms` milliseconds. */
  readonly advance: (ms: number) => void | Promise<void>
}

/** Creates a subject from a web-standard handler, which is called without a socket. */
export const handler = async ({
  basePath,
  clock,
  fetch,
  ...options
}: ServerOptions & {
  readonly fetch: FetchTransport.FetchHandler
  /** Path before `/pets`, such as `/v1`. */
  readonly basePath: string
  readonly clock?: MovableClock | undefined
}): Promise<Subject> =>
  HttpSubject.make({
    ...options,
    name: options.name ?? "a fetch handler",
    transport: FetchTransport.make(fetch),
    basePath,
    baseUrl: undefined,
    clock: clock && serverClockOf(clock)
  })

const addressOf = (given: string, source: "url" | "clock"): URL =>
  Result.getOrThrowWith(
    ServerTarget.parseAddress(given),
    (reason) => new SetupError({ reason: `${source}: ${reason}` })
  )

const serverClockOf = ({ advance, now }: MovableClock): ServerClock.ServerClock => ({
  isLocal: true,
  now: Effect.sync(now),
  advance: (ms) =>
    Effect.tryPromise({
      try: async () => {
        await advance(ms)
        return now()
      },
      catch: (cause) => new NoResponse({ kind: "connection", reason: String(cause) })
    })
})

/**
 * Runs the suite. Rejects with `SetupError` if the set-up is invalid or Node is too old, and with `UnknownSelection` if
 * a pattern matches nothing.
 */
export const check = (subject: Subject, options: Run.RunOptions = {}): Promise<Report> =>
  Effect.runPromise(Run.run(subject, options))
