/** Defines a fault: a backend that is wrong in one way, the check that must fail, and a part of its report. */
import type * as Clock from "effect/Clock"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore, Steppable } from "../../core/ports/RateLimitStore.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Transport } from "../http/Wire.ts"
import type { Choices } from "./plain/Choices.ts"

/** Makes a correct port faulty. */
export type Spoil<Port> = (real: Port) => Port

/** The ports to make faulty; a port that is absent here stays correct. */
export interface SpoiledPorts {
  readonly pets?: Spoil<PetRepository["Service"]>
  readonly limits?: (real: RateLimitStore["Service"]) => Steppable
  readonly keys?: Spoil<ApiKeyStore["Service"]>
}

/** The data that a faulty server can use. */
export interface World {
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number
  /** The secrets of the keys that the suite uses. */
  readonly keys: {
    readonly main: string
    readonly tiny: string
    readonly victim: string
    readonly revoked: string
  }
}

/** The place of a fault: a storage port, or a server's transport, options, ban policy, clock or ports. */
export type Where =
  | ({ readonly at: "port" } & SpoiledPorts)
  | ({
      readonly at: "http"
      readonly transport?: (real: Transport, world: World) => Transport
      readonly options?: Partial<ServiceOptions>
      readonly ban?: BanPolicy
      /** Makes the clock of the service from the clock that tests move. */
      readonly clock?: (real: Clock.Clock) => Clock.Clock
    } & SpoiledPorts)
  | {
      /** A plain server, which shares no code with the core. */
      readonly at: "plain"
      readonly choices?: Partial<Choices>
      readonly transport?: (real: Transport, world: World) => Transport
    }

export interface Fault {
  /** The unique id, such as `list.limit-plus-one`. */
  readonly id: string
  /** The faulty behavior, in one sentence. */
  readonly does: string
  /** The clause that it breaks; the model must report this clause. */
  readonly breaks: ClauseSlug
  readonly where: Where
}

/**
 * Describes a fault in three steps: its id and its behavior, the clause that it breaks, and its place.
 *
 * @example
 * ```ts
 * fault("list.limit-exponent", "Accepts a limit with an exponent.")
 *   .breaks("list.limit.range")
 *   .by(Lists.readsLimit(/^[1-9]e[0-9]$/i))
 * ```
 */
export const fault = (id: string, does: string) => ({
  breaks: (clause: ClauseSlug) => ({
    by: (where: Where): Fault => ({ id, does, breaks: clause, where })
  })
})
