/** Defines the interfaces through which checks test a subject. */
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { Catalogue } from "./Catalogue.ts"
import type { Http } from "./Http.ts"
import type { Meter } from "./Meter.ts"

/** The interfaces by name; a subject provides some of them. */
export interface Interfaces {
  readonly catalogue: Catalogue
  /** The limits of a key on a small plan. */
  readonly meter: Meter
  /** The limits of a key that checks are allowed to get banned. */
  readonly victim: Meter
  readonly http: Http
  readonly pets: PetRepository["Service"]
  readonly limits: RateLimitStore["Service"]
  readonly keys: ApiKeyStore["Service"]
  /** The subject's ports over a backend that does not respond; `undefined` for a port that it does not have. */
  readonly outage: {
    readonly pets: PetRepository["Service"] | undefined
    readonly limits: RateLimitStore["Service"] | undefined
    readonly keys: ApiKeyStore["Service"] | undefined
  }
}

export type InterfaceName = keyof Interfaces
