/** Computes the keys of rate-limit states in Redis. */
import { Buffer } from "node:buffer"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimitScript from "./RateLimitScript.ts"

/** The key and the field that contain a state, and the scripts for this kind of key. */
export interface StateKey {
  readonly key: string
  /** The field of the hash; "" if the key contains only this state. */
  readonly field: string
  readonly scripts: (typeof RateLimitScript.scripts)[keyof typeof RateLimitScript.scripts]
}

/**
 * Maximum number of hashes with states of networks. Each hash contains at most its share of the maximum number of
 * networks, so the nodes of a cluster need no shared counter. This is a set-associative cache.
 */
const MAX_SETS = 1_024

/** Minimum capacity of a set. A small `maxNetworks` is divided into fewer sets, so that nearly all is used. */
const MIN_NETWORKS_PER_SET = 8

/** Assigns keys to the states of callers; at most `maxNetworks` states of networks are stored. */
export const make = (maxNetworks: number) => {
  const sets = Math.min(MAX_SETS, Math.floor(maxNetworks / MIN_NETWORKS_PER_SET))
  return {
    /** Maximum number of networks in one hash. */
    maxFields: Math.floor(maxNetworks / sets),
    /**
     * Returns the key of a caller's state. The hash tag allows other keys of the same caller to share its slot. The
     * name of a caller may contain braces: they change the tag, but the caller still has one key.
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

/** Returns the FNV-1a hash, which is the same on all nodes. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
