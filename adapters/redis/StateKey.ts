/** The keys of rate-limit states in Redis. */
import { Buffer } from "node:buffer"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimitScript from "./RateLimitScript.ts"

/** Where a state is, and the scripts for this place. */
export interface StateKey {
  readonly key: string
  /** The field of the hash; "" if the state has the key for itself. */
  readonly field: string
  readonly scripts: (typeof RateLimitScript.scripts)[keyof typeof RateLimitScript.scripts]
}

/**
 * Number of hashes with states of networks. Each holds at most its share of the maximum, so the number of networks is
 * bounded without a counter that nodes of a cluster would have to share. This is a set-associative cache.
 */
const MAX_SETS = 1_024

/** Fewer sets hold at least this many networks each, so that the maximum is nearly reached. */
const MIN_NETWORKS_PER_SET = 8

/** Places the states of callers; at most `maxNetworks` states of networks. */
export const make = (maxNetworks: number) => {
  const sets = Math.min(MAX_SETS, Math.floor(maxNetworks / MIN_NETWORKS_PER_SET))
  return {
    /** Maximum number of networks in one hash. */
    maxFields: Math.floor(maxNetworks / sets),
    /**
     * Returns the place of a caller's state. The hash tag is there for other keys of the same caller. A caller with
     * braces still has one key, whatever its tag is.
     */
    of: (caller: string): StateKey =>
      Caller.isNetwork(caller)
        ? {
            key: `animal-store:networks:{${hashOf(caller) % sets}}`,
            field: caller,
            scripts: RateLimitScript.scripts.hash
          }
        : { key: `animal-store:{${caller}}`, field: "", scripts: RateLimitScript.scripts.string }
  }
}

/** FNV-1a, the same on all nodes. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
