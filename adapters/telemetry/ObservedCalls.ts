/** Observes database calls: their durations, the number in progress, and child spans of the request's span. */
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

/** Creates an observer that reports to `meter` and, if given, to `tracing`. */
export const make = (meter: Meter, tracing: Tracing | undefined): Effect.Effect<CallObserver> =>
  Effect.map(Clock.Clock, (clock) => ({
    observe: (system, operation) => {
      const calls = meter.calls(system, operation)
      const measured = <A>(call: Effect.Effect<A, StoreUnavailable>) => {
        const startedAt = clock.monotonicTimeNanosUnsafe()
        calls.started()
        return Effect.onExit(call, (exit) => {
          const seconds = Number(clock.monotonicTimeNanosUnsafe() - startedAt) / NANOS_PER_SECOND
          calls.ended(seconds, errorTypeOf(exit))
          return Effect.void
        })
      }
      if (tracing === undefined) return (call) => Effect.suspend(() => measured(call))
      const traced = <A>(call: Effect.Effect<A, StoreUnavailable>, span: Tracer.Span) =>
        Effect.onExit(call, (exit) => {
          const errorType = errorTypeOf(exit)
          if (errorType !== undefined) span.attribute("error.type", errorType)
          span.end(clock.currentTimeNanosUnsafe(), Exit.void)
          return Effect.void
        })
      return (call) =>
        Effect.contextWith((context: Context.Context<never>) => {
          const parent = Context.getOrUndefined(context, Tracer.ParentSpan)
          return measured(parent === undefined ? call : traced(call, tracing.call(system, operation, parent)))
        })
    },
    committed: meter.committed
  }))

const errorTypeOf = (exit: Exit.Exit<unknown, StoreUnavailable>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Exit.hasInterrupts(exit)) return "interrupted"
  return Exit.hasFails(exit) ? "store_unavailable" : "_OTHER"
}
