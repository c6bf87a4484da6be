/** Opens the storage ports under test; every time they are built again, so that cases are independent. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"

/** A layer that builds an empty store each time. */
export type Store<Port> = Layer.Layer<Port, unknown>

export interface PortTarget {
  readonly name: string
  readonly petRepository?: Store<PetRepository> | undefined
  readonly rateLimitStore?: Store<RateLimitStore> | undefined
  readonly apiKeyStore?: Store<ApiKeyStore> | undefined
  /** Some or all ports over a backend that does not respond, to check how they fail. */
  readonly outage?: Store<never> | undefined
}

/** A layer could not be built. */
export class Unopened extends Data.TaggedError("Unopened")<{ readonly reason: string }> {}

/** Builds a store; returns its port, or `undefined` if there is no layer, or if it does not provide the port. */
export const open = <Port, Service extends object>(
  store: Store<Port> | Store<never> = Layer.empty,
  port: Context.Service<Port, Service>
): Effect.Effect<Service | undefined, Unopened, Scope.Scope> =>
  Layer.build(Layer.fresh(store)).pipe(
    Effect.map((context) => Option.getOrUndefined(Option.map(Context.getOption(context, port), suspended))),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.fail(new Unopened({ reason: String(Cause.squash(cause)).split("\n")[0] ?? "" }))
    )
  )

/** Returns a port whose methods are called when their effects run, so that a synchronous throw is also a defect. */
const suspended = <Port extends object>(port: Port): Port =>
  // The target is not the port, because a proxy cannot replace the methods of a frozen object.
  new Proxy({} as Port, {
    get: (_, name) => {
      const member: unknown = Reflect.get(port, name)
      return typeof member === "function"
        ? (...given: ReadonlyArray<unknown>) => Effect.suspend(() => Reflect.apply(member, port, given))
        : member
    }
  })
