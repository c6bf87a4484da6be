/** A backend that is wrong in one way: what it breaks, which check must fail, and what that check must report. */
import type * as Clock from "effect/Clock"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Transport } from "../http/Wire.ts"

/** Makes a correct port faulty. */
export type Spoil<Port> = (real: Port) => Port

/** Faulty versions of the ports; the others stay correct. */
export interface SpoiledPorts {
  readonly pets?: Spoil<PetRepository["Service"]>
  readonly limits?: Spoil<RateLimitStore["Service"]>
  readonly keys?: Spoil<ApiKeyStore["Service"]>
}

/** The data that a faulty server can use. */
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

/** Where it is wrong: at a storage port, or as a server, in its transport or in its parts. */
export type Where =
  | ({ readonly at: "port" } & SpoiledPorts)
  | ({
      readonly at: "http"
      readonly transport?: (real: Transport, world: World) => Transport
      readonly options?: Partial<ServiceOptions>
      readonly ban?: BanPolicy
      /** The clock of the service, instead of the one that tests move. */
      readonly clock?: (real: Clock.Clock) => Clock.Clock
    } & SpoiledPorts)

export interface Fault {
  /** Such as `list.limit-plus-one`. */
  readonly id: string
  /** Its behaviour, in one sentence. */
  readonly does: string
  readonly breaks: ClauseSlug
  /** Id of the check that must fail. */
  readonly killedBy: string
  /** Part of what that check must report. */
  readonly words: string
  readonly where: Where
}

/**
 * Describes a fault: its id and what it does, then the clause that it breaks, the check that must fail and part of its
 * report, then where it is wrong.
 *
 * @example
 * ```ts
 * fault("list.limit-exponent", "Accepts a limit with an exponent.")
 *   .breaks("list.limit.syntax", "list.limit.syntax", "?limit=1e1 200")
 *   .by(Lists.readsLimit(/^[1-9]e[0-9]$/i))
 * ```
 */
export const fault = (id: string, does: string) => ({
  breaks: (clause: ClauseSlug, killedBy: string, words: string) => ({
    by: (where: Where): Fault => ({ id, does, breaks: clause, killedBy, words, where })
  })
})
