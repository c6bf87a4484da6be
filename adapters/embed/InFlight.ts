/** Counts the requests in flight, so that the stores close only after the last request has ended. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { Service } from "../../core/service/Service.ts"

/** Timeout for requests in flight: a client that never completes its body must not block the shutdown. */
const TIMEOUT = "10 seconds"

export class InFlight extends Context.Service<
  InFlight,
  {
    /** Whether any host has passed a request to the service. */
    readonly hasReceivedRequest: () => boolean
  }
>()("animal-store/adapters/embed/InFlight") {}

/**
 * Wraps the service to count requests. When the scope closes, drains the service, then waits at most `TIMEOUT` for the
 * requests in flight.
 */
export const layer: Layer.Layer<Service | InFlight, never, Service> = Layer.effectContext(
  Effect.gen(function* () {
    const service = yield* Service
    const idle = Latch.makeUnsafe(true)
    let count = 0
    let hasReceivedRequest = false

    const enter = (): void => {
      hasReceivedRequest = true
      count++
      idle.closeUnsafe()
    }
    const leave = Effect.sync(() => {
      count--
      if (count === 0) idle.openUnsafe()
    })
    yield* Effect.addFinalizer(() =>
      Effect.andThen(service.drain, Effect.ignore(Effect.timeout(idle.await, TIMEOUT)))
    )
    const countingService: Service["Service"] = {
      ...service,
      handle: (request) =>
        Effect.suspend(() => {
          enter()
          return Effect.ensuring(service.handle(request), leave)
        })
    }
    return Context.make(Service, countingService).pipe(
      Context.add(InFlight, { hasReceivedRequest: () => hasReceivedRequest })
    )
  })
)
