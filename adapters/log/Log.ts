/**
 * Opens the log of a store: an Effect logger, which summarizes repeated events with `Repetition`, and an access log.
 * Both write to one `LogSink`.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import type { ResponseObserver } from "../../core/service/Exchange.ts"
import * as AccessLog from "./AccessLog.ts"
import * as EffectEvent from "./EffectEvent.ts"
import type { LogThreshold } from "./LogEvent.ts"
import type * as LogSink from "./LogSink.ts"
import * as Repetition from "./Repetition.ts"

const NANOS_PER_MS = 1_000_000n

export interface Log {
  /** Replaces all loggers, and sets the minimum level. */
  readonly layer: Layer.Layer<never>
  /** Writes a line to the access log for each exchange. */
  readonly accessLog: ResponseObserver
}

/** Opens the log; pending summaries are written when the scope closes. */
export const make = Effect.fnUntraced(function* (
  open: LogSink.Open,
  threshold: LogThreshold = "info"
): Effect.fn.Return<Log, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const sink = open((count) => EffectEvent.lost(count, clock.currentTimeMillisUnsafe()))
  return {
    layer: Layer.merge(
      Logger.layer([yield* makeLogger(sink, clock)]),
      Layer.succeed(References.MinimumLogLevel, minimumOf[threshold])
    ),
    accessLog: AccessLog.observer(sink)
  }
})

const minimumOf = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
} as const satisfies { readonly [threshold in LogThreshold]: string }

const makeLogger = Effect.fnUntraced(function* (
  sink: LogSink.LogSink,
  clock: Clock.Clock
): Effect.fn.Return<Logger.Logger<unknown, void>, never, Scope.Scope> {
  const hasPending = Latch.makeUnsafe(false)
  let state: Repetition.State<EffectEvent.EffectEvent> = Repetition.empty

  const now = (): number => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)
  const advance = (
    step: (now: number) => ReturnType<typeof Repetition.tick<EffectEvent.EffectEvent>>
  ): void => {
    const [emissions, next] = step(now())
    state = next
    if (state.size > 0) hasPending.openUnsafe()
    else hasPending.closeUnsafe()
    for (const emission of emissions) sink.write(() => EffectEvent.toLogEvent(emission))
  }

  const summarize = Effect.gen(function* () {
    yield* hasPending.await
    yield* Effect.sleep(Repetition.dueIn(state, now()) ?? 0)
    advance((at) => Repetition.tick(state, at))
  })
  yield* Effect.forkScoped(Effect.forever(summarize))
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.sync(() => advance((at) => Repetition.flush(state, at))),
      sink.flushed
    )
  )
  return Logger.make((options) => {
    const event = EffectEvent.capture(options)
    const write = () =>
      sink.write(() => EffectEvent.toLogEvent({ event, count: 1, withinMs: 0, isMixed: false }))
    if (EffectEvent.isAboutKey(event)) return write()
    // Formatting may throw, for example if an error has a throwing `message` getter.
    try {
      const kind = EffectEvent.kindOf(event)
      advance((at) => Repetition.step(state, at, kind, event))
    } catch {
      write()
    }
  })
})
