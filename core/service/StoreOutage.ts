/**
 * Derives from the outcomes of requests when the stores became unavailable and available again, for the log. Unlike for
 * `StoreHealth`, which decides on readiness, one failure suffices. Times are monotonic milliseconds.
 */

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

/** Stands for the operation when requests are admitted without being counted. */
export const LIMITS = "limits"

/** Records that a request was counted, whatever its response: the limits are available. */
export const counted = (outage: StoreOutage | undefined, now: number): Step => {
  if (outage === undefined || !outage.failing.has(LIMITS)) return [undefined, outage]
  return without(outage, [LIMITS], now)
}

/** Records the success of operations. */
export const succeeded = (
  outage: StoreOutage | undefined,
  operations: ReadonlyArray<string>,
  now: number
): Step => {
  if (outage === undefined) return [undefined, undefined]
  // Every request uses the limits, so their outage needs no settling time: it ends with the next counted request.
  const isSettled = !outage.failing.has(LIMITS) && now - outage.failedAt >= SETTLED_MS
  return without(outage, isSettled ? outage.failing : operations, now)
}

const without = (outage: StoreOutage, works: Iterable<string>, now: number): Step => {
  const failing = new Set(outage.failing)
  for (const operation of works) failing.delete(operation)
  return failing.size === 0
    ? [{ _tag: "Found", afterMs: now - outage.lostAt }, undefined]
    : [undefined, { ...outage, failing }]
}
