import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Log from "./Log.ts"
import * as LogFormat from "./LogFormat.ts"
import * as LogSink from "./LogSink.ts"

const openLog = Effect.gen(function* () {
  const lines: Array<string> = []
  const disk = { isFull: false }
  const scope = yield* Scope.make()
  const sink = LogSink.toFunction((line) => {
    if (disk.isFull) throw new Error("disk full")
    lines.push(line)
  }, LogFormat.text)
  const opened = yield* Scope.provide(Log.make(sink), scope)
  const context = yield* Layer.buildWithScope(opened.layer, scope)
  const loggers = Context.get(context, Logger.CurrentLoggers)
  const log = (...message: ReadonlyArray<unknown>) =>
    Effect.provideService(Effect.logWarning(...message), Logger.CurrentLoggers, loggers)
  return { lines, disk, log, close: Scope.close(scope, Exit.void) }
})

/** Removes timestamps and other varying parts. */
const stable = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => line.replace(/^timestamp=1970-\S+ level=WARN (fiber=#\d+ )?/, ""))

const outage = (port: number) =>
  new Error("unavailable", { cause: new Error(`connect ECONNREFUSED :${port}`) })

describe("the log", () => {
  it.effect("writes the first line of a kind immediately, then one summary per second", () =>
    Effect.gen(function* () {
      const { lines, log } = yield* openLog
      for (let second = 0; second < 3; second++) {
        for (let count = 0; count < 1_701; count++) yield* log("503 service_unavailable")
        yield* TestClock.adjust("1 second")
      }
      yield* TestClock.adjust("5 seconds")
      yield* log("503 service_unavailable")
      expect(stable(lines)).toEqual([
        'message="503 service_unavailable"',
        'message="503 service_unavailable × 1,700 in 1 s"',
        'message="503 service_unavailable × 1,701 in 1 s"',
        'message="503 service_unavailable × 1,701 in 1 s"',
        'message="503 service_unavailable"'
      ])
    })
  )

  it.effect("treats events that differ only in annotations and in numbers within errors as one kind", () =>
    Effect.gen(function* () {
      const { lines, log } = yield* openLog
      yield* Effect.annotateLogs(log("500", outage(40_001)), "request", "a")
      yield* Effect.annotateLogs(log("500", outage(40_002)), "request", "b")
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/ECONNREFUSED :40001.* request=a$/)
      yield* log("500", new Error("unavailable", { cause: new Error("disk full") }))
      yield* log("503", outage(40_001))
      expect(lines).toHaveLength(3)
      yield* TestClock.adjust("1 second")
      expect(stable(lines).slice(3)).toEqual([
        expect.stringMatching(/^message="500 × 1 in 1 s".*ECONNREFUSED/)
      ])
    })
  )

  it.effect("never summarizes events about a key", () =>
    Effect.gen(function* () {
      const { lines, log } = yield* openLog
      for (const key of ["a", "b", "a"]) {
        yield* Effect.annotateLogs(log("key banned"), { key, request: "r" })
      }
      yield* TestClock.adjust("1 second")
      expect(stable(lines)).toEqual([
        'message="key banned" key=a request=r',
        'message="key banned" key=b request=r',
        'message="key banned" key=a request=r'
      ])
    })
  )

  it.effect("writes exactly one line per event, even if its text has line breaks", () =>
    Effect.gen(function* () {
      const { lines, log } = yield* openLog
      yield* log("a\nb\u2028", new Error("c\r\nd"))
      expect(lines).toHaveLength(1)
      expect(lines[0]).not.toMatch(/[\r\n]/)
    })
  )

  it.effect("reports the number of lost lines before the next written line", () =>
    Effect.gen(function* () {
      const { disk, lines, log } = yield* openLog
      disk.isFull = true
      for (const message of ["a", "b", "c"]) yield* log(message)
      yield* log("c")
      yield* TestClock.adjust("1 second")
      disk.isFull = false
      yield* log("d")
      expect(stable(lines)).toEqual(['message="log lines lost: 4"', "message=d"])
    })
  )

  it.effect("writes the pending summary when its scope closes, and still writes later events", () =>
    Effect.gen(function* () {
      const { close, lines, log } = yield* openLog
      yield* log("a")
      yield* log("a")
      yield* log("a")
      yield* TestClock.adjust("200 millis")
      yield* close
      yield* log("b")
      expect(stable(lines)).toEqual(["message=a", 'message="a × 2 in 0.2 s"', "message=b"])
    })
  )

  it.effect("summarizes the events of all further kinds in one line if there are too many kinds", () =>
    Effect.gen(function* () {
      const { lines, log } = yield* openLog
      const name = (index: number): string => String.fromCodePoint(0x4e00 + index)
      for (let index = 0; index < 500; index++) yield* log(name(index))
      expect(lines.length).toBeLessThan(70)
      yield* TestClock.adjust("1 second")
      expect(stable(lines).at(-1)).toBe(
        `message="events of many kinds × ${500 - lines.length + 1} in 1 s, the latest: ${name(499)}"`
      )
    })
  )

  it.effect("still logs later events after an event with a message getter that throws", () =>
    Effect.gen(function* () {
      const { lines, log } = yield* openLog
      const hostile = new Error("x")
      Object.defineProperty(hostile, "message", {
        get: () => {
          throw new Error("unreadable")
        }
      })
      yield* log("a", hostile)
      yield* log("b")
      expect(lines.at(-1)).toContain("message=b")
    })
  )
})
