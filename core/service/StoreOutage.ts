/**
 * Derives from the outcomes of requests when the stores became unavailable and available again, for the log. Unlike `StoreHealth`,
 * which decides on readiness, one failure suffices. Times are monotonic milliseconds.
 */
import { ADMISSION } from "./StoreHealth.ts"

/**
 * Milliseconds after the latest failure from which any success ends an outage, because the operation that failed may
 * not be requested again.
 */
export const SETTLED_MS = 10_000

/** An outage that has not ended. */
export interface StoreOutage {
  readonly lostAt: number
  readonly failedAt: number
  /** The operations that failed and have not succeeded since. */
  readonly failing: ReadonlySet<string>
}

/** An outage began, or it ended after `afterMs` milliseconds. */
export type Change = { readonly _tag: "Lost" } | { readonly _tag: "Found"; readonly afterMs: number }

type Step = readonly [change: Change | undefined, outage: StoreOutage | undefined]

/** Records a store failure in an operation. */
export const failed = (outage: StoreOutage | undefined, operation: string, now: number): Step =>
  outage === undefined
    ? [{ _tag: "Lost" }, { lostAt: now, failedAt: now, failing: new Set([operation]) }]
    : [undefined, { ...outage, failedAt: now, failing: new Set(outage.failing).add(operation) }]

/** Records the success of an operation, and of the admission before it. */
export const succeeded = (outage: StoreOutage | undefined, operation: string, now: number): Step => {
  if (outage === undefined) return [undefined, undefined]
  const failing = new Set(outage.failing)
  failing.delete(operation)
  failing.delete(ADMISSION)
  return failing.size === 0 || now - outage.failedAt >= SETTLED_MS
    ? [{ _tag: "Found", afterMs: now - outage.lostAt }, undefined]
    : [undefined, { ...outage, failing }]
}
