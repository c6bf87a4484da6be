/** Measures each exchange and passes it to the observer. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import * as Exchange from "./Exchange.ts"
import type { ServiceResponse } from "./ServiceResponse.ts"

/** Responds to a request and records the request in the draft. */
export type Respond = (draft: Exchange.Draft) => Effect.Effect<ServiceResponse>

/**
 * Returns a function that responds to a request, and then passes the exchange to `observer`, even if the client
 * disconnects. Without an observer, the function only responds.
 */
export const make = (
  observer: Exchange.ResponseObserver | undefined,
  options: Exchange.Options
): ((request: Exchange.Requested, respond: Respond) => Effect.Effect<ServiceResponse>) =>
  observer === undefined
    ? (_, respond) => respond(Exchange.draft())
    : (request, respond) =>
        Effect.contextWith((context: Context.Context<never>) => {
          const clock = Context.get(context, Clock.Clock)
          const span = Context.getOrUndefined(context, Tracer.ParentSpan)
          const startedAt = Math.floor(clock.currentTimeMillisUnsafe())
          const start = clock.monotonicTimeNanosUnsafe()
          const draft = Exchange.draft()
          return Effect.onExit(respond(draft), (exit) => {
            const durationMs = Number(clock.monotonicTimeNanosUnsafe() - start) / NANOS_PER_MS
            const response = Exit.isSuccess(exit) ? exit.value : undefined
            const times = { startedAt, durationMs }
            observer(Exchange.complete(draft, request, response, times, span, options), span)
            return Effect.void
          })
        })

const NANOS_PER_MS = 1_000_000
