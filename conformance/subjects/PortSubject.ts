/** Makes a subject of storage ports, which are built again for every case, so that cases are independent. */
import type * as Layer from "effect/Layer"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { Capability } from "../evaluation/Capability.ts"
import type { Subject } from "./Subject.ts"

/** A layer that builds an empty store each time. */
export type Store<Port> = Layer.Layer<Port, unknown>

export interface PortSubjectOptions {
  readonly name: string
  readonly petRepository?: Store<PetRepository> | undefined
  readonly rateLimitStore?: Store<RateLimitStore> | undefined
  readonly apiKeyStore?: Store<ApiKeyStore> | undefined
  /** Some or all ports over a backend that does not respond, to check how they fail. */
  readonly outage?: Store<never> | undefined
}

export interface PortSubject extends Subject {
  readonly kind: "port"
  readonly target: PortSubjectOptions
}

/** Whether a subject consists of storage ports. */
export const is = (subject: Subject): subject is PortSubject => subject.kind === "port"

export const make = (target: PortSubjectOptions): PortSubject => ({
  name: target.name,
  kind: "port",
  capabilities: new Set<Capability>(target.outage === undefined ? ["parallel"] : ["parallel", "outage"]),
  target
})
