/** Counts the requests that a service is busy with, so that what it stands on is closed after the last of them. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Immediate from "../../core/ports/Immediate.ts"
import { Service } from "../../core/service/Service.ts"

/** Longest wait for the requests in flight; a client that never ends its body must not keep a process alive. */
const PATIENCE = "10 seconds"

/** The service below, waited for when the scope closes: whichever host a request came through. */
export const layer: Layer.Layer<Service, never, Service> = Layer.effect(
  Service,
  Effect.gen(function* () {
    const service = yield* Service
    const idle = Latch.makeUnsafe(true)
    let count = 0

    const leave = (): void => {
      count--
      if (count === 0) idle.openUnsafe()
    }
    yield* Effect.addFinalizer(() =>
      Effect.andThen(service.drain, Effect.ignore(Effect.timeout(idle.await, PATIENCE)))
    )
    return {
      ...service,
      handle: (request, clock) =>
        new Immediate.Immediate(() => {
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
  })
)
