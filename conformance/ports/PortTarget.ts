/** Opens the storage ports under test; every time they are built again, so that cases are independent. */
import * as Context from "effect/Context"
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

/** Builds a store; returns its port, or `undefined` if there is no layer, or if it does not provide the port. */
export const open = <Port, Service extends object>(
  store: Store<Port> | Store<never> = Layer.empty,
  port: Context.Service<Port, Service>
): Effect.Effect<Service | undefined, unknown, Scope.Scope> =>
  Effect.map(Layer.build(Layer.fresh(store)), (context) =>
    Option.getOrUndefined(Context.getOption(context, port))
  )
