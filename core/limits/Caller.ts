/** Names under which rate-limit states are stored: one for each API key record, one for each client network. */

const NETWORK = "network:"

/** The first and the first excluded name of networks, in code point order. */
export const networks = { from: NETWORK, to: "network;" } as const

/** The name of the holder of an API key record, by the record's id. */
export const ofKey = (id: string): string => `key:${id}`

/** The name of those who send no valid key from a network. */
export const ofNetwork = (network: string): string => `${NETWORK}${network}`

/**
 * Whether a state belongs to a network. Anybody can make a store hold states of networks, so stores keep a bounded number
 * of them (`maxAnonymousStates`).
 */
export const isNetwork = (caller: string): boolean => caller.startsWith(NETWORK)

/**
 * Most states of networks that a store keeps where nothing else is said, about 40 MB in memory. Beyond it those go that
 * were used least recently: their minute is full again mostly, so what their networks gain is a new day.
 */
export const defaultMaxNetworks = 100_000
