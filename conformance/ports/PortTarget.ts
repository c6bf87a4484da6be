/** The storage ports under test; every time they are built again, so that cases are independent. */
import type * as Layer from "effect/Layer"
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
