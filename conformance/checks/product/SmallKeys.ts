/** Defines how long the limits of small keys take to refill, and which responses deny a key (contract §8). */

import type { Exchange } from "../../http/Exchange.ts"

/** Milliseconds after which a key that sent nothing has its full per-minute and daily limits again. */
export const REFILL_MS = 86_461_000

/**
 * Whether a response denies a key: 429, or 403 for a banned key. The main key is never banned, because the suite waits
 * for its Retry-After.
 */
export const isDenied = ({ key, response: { status } }: Pick<Exchange, "key" | "response">): boolean =>
  status === 429 || (status === 403 && key !== "main")
