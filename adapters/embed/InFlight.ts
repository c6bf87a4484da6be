/** Lets the requests in flight end before the stores close. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { InFlight, Requests } from "../../core/service/InFlight.ts"
import { Service } from "../../core/service/Service.ts"

/** Timeout for requests in flight: a client that never completes its body must not block the shutdown. */
const TIMEOUT = "10 seconds"

/**
 * Counts the requests of all hosts. When the scope closes, drains the service, then waits at most `TIMEOUT` for the
 * requests in flight.
 */
export const layer: Layer.Layer<never, never, Service> = Layer.effect(
  InFlight,
  Effect.gen(function* () {
    const service = yield* Service
    const requests = new Requests()
    yield* Effect.addFinalizer(() =>
      Effect.andThen(service.drain, Effect.ignore(Effect.timeout(requests.idle, TIMEOUT)))
    )
    return requests
  })
)
