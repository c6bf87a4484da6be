/**
 * Writes log events to a stream or a function. Writing never throws, blocks or crashes the process: a line that cannot
 * be written is dropped and counted, and the count precedes the next written line.
 */
import type { Writable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { LogEvent } from "./LogEvent.ts"
import type { LogFormat } from "./LogFormat.ts"

export interface LogSink {
  /** Writes the event that `describe` returns, or drops and counts it. */
  readonly write: (describe: () => LogEvent) => void
  /** Waits at most a second until all lines are written or dropped. */
  readonly flushed: Effect.Effect<void>
}

/** Opens a sink; `lost` returns the event that reports the number of dropped lines. */
export type Open = (lost: (count: number) => LogEvent) => LogSink

/** Maximum buffered bytes for a slow reader; further lines are dropped. */
export const MAX_WAITING_BYTES = 262_144

/** Maximum number of unsettled promises of a log function; further lines are dropped. */
export const MAX_WAITING_LINES = 1_000

const FLUSH_TIMEOUT = "1 second"

/**
 * Writes lines to a stream such as standard error. Node writes to pipes and sockets asynchronously, except on Windows,
 * and to files and terminals synchronously.
 */
export const toStream =
  (stream: Writable, format: LogFormat): Open =>
  (lost) =>
    make(lost, {
      hasRoom: () => stream.writableLength < MAX_WAITING_BYTES,
      send: (event, hasFailed, done) => {
        ignoreErrors(stream)
        // A failed write may have written part of a line, for example on a full disk.
        stream.write(`${hasFailed ? "\n" : ""}${format(event)}\n`, (error) => done(error == null))
      }
    })

/** Passes lines and events to a function of the program that embeds the service; it may throw or return a promise. */
export const toFunction =
  (log: (line: string, event: LogEvent) => unknown, format: LogFormat): Open =>
  (lost) => {
    let unsettled = 0
    return make(lost, {
      hasRoom: () => unsettled < MAX_WAITING_LINES,
      send: (event, _, done) => {
        const returned = log(format(event), event)
        if (returned === undefined) return done(true)
        const settle = (isWritten: boolean): void => {
          unsettled--
          done(isWritten)
        }
        unsettled++
        Promise.resolve(returned).then(
          () => settle(true),
          () => settle(false)
        )
      }
    })
  }

/**
 * Prevents a failed write from crashing the process: Node emits an `error` event, which is fatal without a listener.
 * The listener is never removed, because the event follows the callback of the write.
 */
export const ignoreErrors = (stream: Writable): void => {
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore)
}

const ignore = (): void => undefined

interface Target {
  readonly hasRoom: () => boolean
  /** Sends an event and calls `done` once, or throws. `hasFailed` is true if the previous line failed. */
  readonly send: (event: LogEvent, hasFailed: boolean, done: (isWritten: boolean) => void) => void
}

const make = (lost: (count: number) => LogEvent, { hasRoom, send }: Target): LogSink => {
  const idle = Latch.makeUnsafe(true)
  let waiting = 0
  let dropped = 0
  let hasFailed = false

  /** Writes an event; if this fails, `lineCount` lines are counted as dropped. */
  const attempt = (describe: () => LogEvent, lineCount: number): void => {
    const failedBefore = hasFailed
    hasFailed = false
    const done = (isWritten: boolean): void => {
      if (!isWritten) {
        hasFailed = true
        dropped += lineCount
      }
      if (--waiting === 0) idle.openUnsafe()
    }
    waiting++
    idle.closeUnsafe()
    try {
      send(describe(), failedBefore, done)
    } catch {
      done(false)
    }
  }

  return {
    write: (describe) => {
      if (!hasRoom()) {
        dropped++
        return
      }
      if (dropped > 0) {
        const reported = dropped
        dropped = 0
        attempt(() => lost(reported), reported)
      }
      attempt(describe, 1)
    },
    flushed: Effect.ignore(Effect.timeout(idle.await, FLUSH_TIMEOUT))
  }
}
