/** The observer of database calls: durations, calls in progress, and spans below that of the request. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { CallObserver } from "../storage/CallObserver.ts"
import type { Meter } from "./Meter.ts"
import type { Tracing } from "./Tracing.ts"

const NANOS_PER_SECOND = 1_000_000_000

/** Creates an observer that reports to a meter and to traces, of which one may be absent. */
export const make = (meter: Meter | undefined, tracing: Tracing | undefined): Effect.Effect<CallObserver> =>
  Effect.map(Clock.Clock, (clock) => ({
    around: (system, operation, call) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const parent = tracing && Context.getOrUndefined(context, Tracer.ParentSpan)
        const span = parent && tracing.call(system, operation, parent)
        const startedAt = clock.monotonicTimeNanosUnsafe()
        meter?.callStarted(system)
        return Effect.onExit(call, (exit) => {
          const errorType = errorTypeOf(exit)
          const seconds = Number(clock.monotonicTimeNanosUnsafe() - startedAt) / NANOS_PER_SECOND
          meter?.callEnded(system, operation, seconds, errorType)
          if (errorType !== undefined) span?.attribute("error.type", errorType)
          span?.end(clock.currentTimeNanosUnsafe(), Exit.void)
          return Effect.void
        })
      }),
    committed: (writes) => meter?.committed(writes)
  }))

const errorTypeOf = (exit: Exit.Exit<unknown, StoreUnavailable>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Exit.hasInterrupts(exit)) return "interrupted"
  return Exit.hasFails(exit) ? "store_unavailable" : "_OTHER"
}
