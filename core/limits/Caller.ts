/** Creates state keys, under which rate-limit states are stored: one per API key record, account and client network. */

const NETWORK = "network:"

/**
 * The range of the state keys of networks in code point order: `from` is inclusive, `to` is exclusive. A semicolon is
 * the character after a colon.
 *
 * @internal
 */
export const networks = { from: NETWORK, to: "network;" } as const

/**
 * Returns the state key of an API key record, from its id.
 *
 * @internal
 */
export const ofKey = (id: string): string => `key:${id}`

/**
 * Returns the state key of an account, whose keys are counted together.
 *
 * @internal
 */
export const ofAccount = (account: string): string => `account:${account}`

/**
 * Returns the state key for the requests from a network without a valid API key.
 *
 * @internal
 */
export const ofNetwork = (network: string): string => `${NETWORK}${network}`

/**
 * Returns whether a state key belongs to a network. Clients without a key can create states of networks, so stores limit
 * how many they keep.
 */
export const isNetwork = (caller: string): boolean => caller.startsWith(NETWORK)
