/**
 * Where log lines go. Writing never throws, never waits and never ends the process: a line that cannot be written is
 * dropped and counted, and the next one that can be written is preceded by the count.
 */
import type { Writable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

export interface LogSink {
  /** Writes the line that `render` returns, or drops it. */
  readonly write: (render: () => string) => void
  /** Waits until all lines are written or dropped, a second at most. */
  readonly flushed: Effect.Effect<void>
}

/** Opens a sink; `lost` makes the line that reports how many lines were dropped. */
export type Open = (lost: (count: number) => string) => LogSink

/** Bytes that wait for a slow reader; lines above that are dropped. */
export const MAX_WAITING_BYTES = 262_144

/** Promises of a log function that have not settled; lines above that are dropped. */
export const MAX_WAITING_LINES = 1_000

const FLUSH_TIMEOUT = "1 second"

/**
 * Lines to a stream such as standard error. Node writes pipes and sockets without blocking, except on Windows, and
 * files and terminals synchronously.
 */
export const toStream =
  (stream: Writable): Open =>
  (lost) =>
    make(lost, {
      hasRoom: () => stream.writableLength < MAX_WAITING_BYTES,
      send: (line, hasFailed, done) => {
        ignoreErrors(stream)
        // A failed write may have left half a line, on a full disk for example.
        stream.write(`${hasFailed ? "\n" : ""}${line}\n`, (error) => done(error == null))
      }
    })

/** Lines to a function of the embedding program, which may throw or return a promise. */
export const toFunction =
  (log: (line: string) => unknown): Open =>
  (lost) => {
    let unsettled = 0
    return make(lost, {
      hasRoom: () => unsettled < MAX_WAITING_LINES,
      send: (line, _, done) => {
        const returned = log(line)
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
 * Keeps a failed write from ending the process: Node emits an `error` event, which is fatal without a listener. The
 * listener stays, since the event comes after the callback of the write.
 */
export const ignoreErrors = (stream: Writable): void => {
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore)
}

const ignore = (): void => undefined

interface Target {
  readonly hasRoom: () => boolean
  /** Sends a line, and calls `done` once; may throw instead. `hasFailed` tells whether the previous line failed. */
  readonly send: (line: string, hasFailed: boolean, done: (isWritten: boolean) => void) => void
}

const make = (lost: (count: number) => string, { hasRoom, send }: Target): LogSink => {
  const idle = Latch.makeUnsafe(true)
  let waiting = 0
  let dropped = 0
  let hasFailed = false

  /** Writes a line; `weight` is how many lines are lost if that fails. */
  const attempt = (render: () => string, weight: number): void => {
    const failedBefore = hasFailed
    hasFailed = false
    const done = (isWritten: boolean): void => {
      if (!isWritten) {
        hasFailed = true
        dropped += weight
      }
      if (--waiting === 0) idle.openUnsafe()
    }
    waiting++
    idle.closeUnsafe()
    try {
      send(render(), failedBefore, done)
    } catch {
      done(false)
    }
  }

  return {
    write: (render) => {
      if (!hasRoom()) {
        dropped++
        return
      }
      if (dropped > 0) {
        const reported = dropped
        dropped = 0
        attempt(() => lost(reported), reported)
      }
      attempt(render, 1)
    },
    flushed: Effect.ignore(Effect.timeout(idle.await, FLUSH_TIMEOUT))
  }
}
