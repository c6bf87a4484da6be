/** A backend that is wrong in one way: what it breaks, and which check must say so, in which words. */
import type * as Clock from "effect/Clock"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Transport } from "../http/Wire.ts"

/** Makes a right port wrong. */
export type Spoil<Port> = (real: Port) => Port

/** Ports that stand in for the right ones. */
export interface SpoiledPorts {
  readonly pets?: Spoil<PetRepository["Service"]>
  readonly limits?: Spoil<RateLimitStore["Service"]>
  readonly keys?: Spoil<ApiKeyStore["Service"]>
}

/** What a spoiled server may know. */
export interface World {
  /** Epoch ms. */
  readonly now: () => number
  /** The secrets of the keys that the suite uses. */
  readonly keys: {
    readonly main: string
    readonly tiny: string
    readonly victim: string
    readonly revoked: string
  }
}

/** Where it is wrong: at a storage port, or as a server, by its transport or by what it is put together from. */
export type Where =
  | ({ readonly at: "port" } & SpoiledPorts)
  | ({
      readonly at: "http"
      readonly transport?: (real: Transport, world: World) => Transport
      readonly options?: Partial<ServiceOptions>
      readonly ban?: BanPolicy
      /** The clock that the service goes by, instead of the one that tests move. */
      readonly clock?: (real: Clock.Clock) => Clock.Clock
    } & SpoiledPorts)

export interface Fault {
  /** Such as `list.limit-plus-one`. */
  readonly id: string
  /** What it does, in one sentence. */
  readonly does: string
  readonly breaks: ClauseSlug
  /** Id of the check that must fail. */
  readonly killedBy: string
  /** Part of what that check must say. */
  readonly words: string
  readonly where: Where
}
