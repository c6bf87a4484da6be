import { Writable } from "node:stream"
import { describe, it as effectIt } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import type { LogEvent } from "./LogEvent.ts"
import type { LogFormat } from "./LogFormat.ts"
import * as LogSink from "./LogSink.ts"

const eventOf = (message: string): LogEvent => ({ time: 0, level: "info", message, fields: {} })

const lost = (count: number): LogEvent => eventOf(`lost ${count}`)

const format: LogFormat = ({ message }) => message

/** Creates a stream that keeps working after failed writes, like standard error. */
const makeDisk = () => {
  const state: { isFull: boolean; text: string } = { isFull: false, text: "" }
  const stream = Object.assign(new Writable(), {
    write: (text: string, done: (error?: Error | null) => void): boolean => {
      const error = state.isFull ? new Error("ENOSPC") : null
      if (error === null) state.text += text
      process.nextTick(done, error)
      if (error !== null) process.nextTick(() => stream.emit("error", error))
      return true
    }
  })
  return { state, stream }
}

/** A stream that completes writes only while `read` runs. */
class Pipe extends Writable {
  readonly #chunks: Array<() => void> = []
  readonly lines: Array<string> = []

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error) => void): void {
    this.#chunks.push(() => {
      this.lines.push(...String(chunk).split("\n").filter(Boolean))
      done()
    })
  }

  async read(): Promise<void> {
    for (let next = this.#chunks.shift(); next !== undefined; next = this.#chunks.shift()) {
      next()
      await new Promise(setImmediate)
    }
  }
}

/** Returns the number of lines that were written or reported as lost. */
const totalOf = (lines: ReadonlyArray<string>): number =>
  lines.reduce((sum, line) => sum + (/^lost (\d+)$/.exec(line) === null ? 1 : Number(line.slice(5))), 0)

describe("a log function", () => {
  it("receives each line, and the number of lost lines before the next accepted line", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean()), (successes) => {
        const lines: Array<string> = []
        let isWorking = true
        const sink = LogSink.toFunction((line) => {
          if (!isWorking) throw new Error("disk full")
          lines.push(line)
        }, format)(lost)
        for (const [index, next] of successes.entries()) {
          isWorking = next
          sink.write(() => eventOf(`line ${index}`))
        }
        isWorking = true
        sink.write(() => eventOf("last"))
        expect(totalOf(lines)).toBe(successes.length + 1)
        expect(lines.filter((line) => line.startsWith("line"))).toEqual(
          successes.flatMap((hasSucceeded, index) => (hasSucceeded ? [`line ${index}`] : []))
        )
        expect(lines.at(-1)).toBe("last")
      })
    )
  })

  it("can return rejected promises: their lines are counted as lost, without unhandled rejections", async () => {
    const lines: Array<string> = []
    let isWorking = false
    const sink = LogSink.toFunction(async (line) => {
      await Promise.resolve()
      if (!isWorking) throw new Error("disk full")
      lines.push(line)
    }, format)(lost)
    for (let count = 0; count < 3; count++) sink.write(() => eventOf("x"))
    await Effect.runPromise(sink.flushed)
    isWorking = true
    sink.write(() => eventOf("y"))
    await Effect.runPromise(sink.flushed)
    expect(lines).toEqual(["lost 3", "y"])
  })

  it("receives a bounded number of lines if its promises never settle", () => {
    let calls = 0
    const sink = LogSink.toFunction(() => {
      calls++
      return new Promise(() => undefined)
    }, format)(lost)
    for (let count = 0; count < LogSink.MAX_WAITING_LINES * 3; count++) sink.write(() => eventOf("x"))
    expect(calls).toBe(LogSink.MAX_WAITING_LINES)
  })

  it("can itself write to the log", () => {
    const lines: Array<string> = []
    const sink: LogSink.LogSink = LogSink.toFunction((line) => {
      lines.push(line)
      if (line === "outer") sink.write(() => eventOf("inner"))
    }, format)(lost)
    sink.write(() => eventOf("outer"))
    expect(lines).toEqual(["outer", "inner"])
  })

  it("is not called when an event cannot be created, and the line is counted as lost", () => {
    const lines: Array<string> = []
    const sink = LogSink.toFunction((line) => void lines.push(line), format)(lost)
    sink.write(() => {
      throw new Error("no text")
    })
    sink.write(() => eventOf("x"))
    expect(lines).toEqual(["lost 1", "x"])
  })
})

describe("a stream", () => {
  it("loses lines while it fails, and receives their number when it works again", async () => {
    const { state, stream } = makeDisk()
    const sink = LogSink.toStream(stream, format)(lost)
    sink.write(() => eventOf("first"))
    state.isFull = true
    for (let count = 0; count < 5; count++) {
      sink.write(() => eventOf("x"))
      await new Promise(setImmediate)
    }
    state.isFull = false
    sink.write(() => eventOf("last"))
    await Effect.runPromise(sink.flushed)
    // The empty line terminates a partially written line.
    expect(state.text).toBe("first\n\nlost 5\nlast\n")
  })

  it("uses bounded memory while it is not read, and later receives the number of dropped lines", async () => {
    const pipe = new Pipe()
    const sink = LogSink.toStream(pipe, format)(lost)
    const line = "x".repeat(1_000)
    const count = 10_000
    for (let index = 0; index < count; index++) sink.write(() => eventOf(line))
    expect(pipe.writableLength).toBeLessThan(LogSink.MAX_WAITING_BYTES + 2 * line.length)
    await pipe.read()
    sink.write(() => eventOf("last"))
    await pipe.read()
    expect(totalOf(pipe.lines)).toBe(count + 1)
    expect(pipe.lines.at(-2)).toMatch(/^lost /)
  })

  it("gets one error listener for any number of sinks and lines", () => {
    const { stream } = makeDisk()
    for (let index = 0; index < 20; index++) LogSink.toStream(stream, format)(lost).write(() => eventOf("x"))
    expect(stream.listenerCount("error")).toBe(1)
  })

  effectIt.effect("delays `flushed` by one second if it is never read", () =>
    Effect.gen(function* () {
      const sink = LogSink.toStream(new Pipe(), format)(lost)
      sink.write(() => eventOf("x"))
      const flushed = yield* Effect.forkChild(sink.flushed)
      yield* TestClock.adjust("999 millis")
      expect(flushed.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(flushed)
    })
  )
})
