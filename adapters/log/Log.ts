/**
 * The logger of the service: `Repetition` limits events, `LogFormat` formats them, and a `LogSink` writes the lines.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import * as LogFormat from "./LogFormat.ts"
import type * as LogSink from "./LogSink.ts"
import * as Repetition from "./Repetition.ts"

const NANOS_PER_MS = 1_000_000n

/** Replaces all loggers. Pending summaries are written when the layer is released. */
export const layer = (open: LogSink.Open): Layer.Layer<never> => Logger.layer([make(open)])

const make = (open: LogSink.Open): Effect.Effect<Logger.Logger<unknown, void>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const sink = open((count) => LogFormat.lost(count, new Date(clock.currentTimeMillisUnsafe())))
    const hasPending = Latch.makeUnsafe(false)
    let state: Repetition.State<LogFormat.LogEvent> = Repetition.empty

    const now = (): number => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)
    const advance = (step: (now: number) => ReturnType<typeof Repetition.tick<LogFormat.LogEvent>>): void => {
      const [emissions, next] = step(now())
      state = next
      if (state.size > 0) hasPending.openUnsafe()
      else hasPending.closeUnsafe()
      for (const emission of emissions) sink.write(() => LogFormat.line(emission))
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
    return Logger.make((event) => {
      // Formatting may throw, for example if an error has a throwing `message` getter.
      try {
        const kind = LogFormat.kindOf(event)
        advance((at) => Repetition.step(state, at, kind, event))
      } catch {
        sink.write(() => LogFormat.line({ event, count: 1, withinMs: 0, isMixed: false }))
      }
    })
  })
