/** Keys of rate-limit states: one for each API key record and one for each client network. */

const NETWORK = "network:"

/**
 * The range of network names in code point order: `from` is inclusive, `to` is exclusive.
 *
 * @internal
 */
export const networks = { from: NETWORK, to: "network;" } as const

/** Returns the name for an API key record, by its id. */
export const ofKey = (id: string): string => `key:${id}`

/** Returns the name for requests without a valid key from a network. */
export const ofNetwork = (network: string): string => `${NETWORK}${network}`

/**
 * Whether a state belongs to a network. Unauthenticated clients can create such states, so stores bound their number
 * (`maxAnonymousStates`).
 */
export const isNetwork = (caller: string): boolean => caller.startsWith(NETWORK)

/**
 * Default maximum number of stored network states, about 40 MB in memory. A store evicts the least recently used states;
 * their buckets are mostly full again, so their networks gain only a new daily quota.
 *
 * @internal
 */
export const defaultMaxNetworks = 100_000
