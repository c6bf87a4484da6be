/** Counts the requests in flight, so that the stores are closed after the last of them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Immediate from "../../core/ports/Immediate.ts"
import { Service } from "../../core/service/Service.ts"

/** Longest wait for the requests in flight; a client that never ends its body must not keep a process alive. */
const TIMEOUT = "10 seconds"

/** What is known of the requests so far, through whichever host they came. */
export class InFlight extends Context.Service<
  InFlight,
  {
    /** Whether there was any request since the start. */
    readonly hasServed: () => boolean
  }
>()("animal-store/adapters/embed/InFlight") {}

/** The service below; when the scope closes, it waits for the requests in flight. */
export const layer: Layer.Layer<Service | InFlight, never, Service> = Layer.effectContext(
  Effect.gen(function* () {
    const service = yield* Service
    const idle = Latch.makeUnsafe(true)
    let count = 0
    let hasServed = false

    const leave = (): void => {
      count--
      if (count === 0) idle.openUnsafe()
    }
    yield* Effect.addFinalizer(() =>
      Effect.andThen(service.drain, Effect.ignore(Effect.timeout(idle.await, TIMEOUT)))
    )
    const counted: Service["Service"] = {
      ...service,
      handle: (request, clock) =>
        new Immediate.Immediate(() => {
          hasServed = true
          const answering = Immediate.start(service.handle(request, clock))
          if (Immediate.isDone(answering)) return answering
          return Effect.withFiber((fiber) => {
            count++
            idle.closeUnsafe()
            // Each request has a fiber of its own: its end costs less to observe than an effect to ensure (0.4 µs).
            fiber.addObserver(leave)
            return answering
          })
        })
    }
    return Context.make(Service, counted).pipe(Context.add(InFlight, { hasServed: () => hasServed }))
  })
)
