import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "./Deadline.ts"

const TIMEOUT_MS = 100

/** Returns the log annotations, loggers and span that apply in the current fiber. */
const surroundings = () => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined) throw new Error("there is no fiber")
  return {
    annotations: fiber.getRef(References.CurrentLogAnnotations),
    loggers: fiber.getRef(Logger.CurrentLoggers),
    span: Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))
  }
}

it.effect("Deadline calls `expire` at the deadline of each call that is not canceled, in order", () =>
  Effect.gen(function* () {
    const deadline = Deadline.make(TIMEOUT_MS)
    const expired: Array<string> = []
    const start = (name: string) =>
      Effect.withFiber((fiber) => Effect.succeed(deadline(fiber, () => expired.push(name))))
    yield* start("a")
    yield* TestClock.adjust(40)
    const cancel = yield* start("b")
    yield* start("c")
    yield* TestClock.adjust(59)
    expect(expired).toEqual([])
    yield* TestClock.adjust(1)
    expect(expired).toEqual(["a"])
    cancel()
    yield* TestClock.adjust(40)
    expect(expired).toEqual(["a", "c"])
  })
)

it.effect("Deadline calls `expire` without the log annotations, loggers or span of the first caller", () =>
  Effect.gen(function* () {
    const deadline = Deadline.make(TIMEOUT_MS)
    const seen: Array<ReturnType<typeof surroundings>> = []
    const start = Effect.withFiber((fiber) =>
      Effect.succeed(deadline(fiber, () => seen.push(surroundings())))
    )
    const outside = yield* Effect.sync(surroundings)
    const first = yield* Effect.all([start, Effect.sync(surroundings)]).pipe(
      Effect.annotateLogs("request", "first"),
      Effect.withSpan("first"),
      Effect.provide(Logger.layer([Logger.make(() => {})]))
    )
    expect(first[1].annotations).toEqual({ request: "first" })
    expect(first[1].span).toMatchObject({ name: "first" })
    expect(first[1].loggers).not.toEqual(outside.loggers)
    yield* start
    yield* TestClock.adjust(TIMEOUT_MS)
    expect(seen).toHaveLength(2)
    for (const { annotations, loggers, span } of seen) {
      expect([annotations, span]).toEqual([{}, undefined])
      expect(loggers).not.toEqual(first[1].loggers)
    }
  })
)
