/**
 * Derives from the outcomes of requests when an outage of the stores begins and ends, for the log. Unlike in
 * `StoreHealth`, which determines readiness, one failure is enough. Times are monotonic milliseconds.
 */
import * as Effect from "effect/Effect"

/**
 * Milliseconds after the latest failure from which any success ends an outage, because clients may not request the
 * failed operation again.
 */
export const SETTLED_MS = 10_000

/** An outage that has not ended. */
export interface StoreOutage {
  readonly beganAt: number
  readonly failedAt: number
  /** The operations that failed and have not succeeded since. */
  readonly failing: ReadonlySet<string>
}

/** An outage began, or it ended after `afterMs` milliseconds. */
export type Change = { readonly _tag: "Began" } | { readonly _tag: "Ended"; readonly afterMs: number }

/** A change, if any, and the outage that has not ended, if any. */
export type Step = readonly [change: Change | undefined, outage: StoreOutage | undefined]

/** Records a store failure in an operation. */
export const recordFailure = (outage: StoreOutage | undefined, operation: string, now: number): Step =>
  outage === undefined
    ? [{ _tag: "Began" }, { beganAt: now, failedAt: now, failing: new Set([operation]) }]
    : [undefined, { ...outage, failedAt: now, failing: new Set(outage.failing).add(operation) }]

/** The name under which requests that are admitted uncounted are recorded as failures, instead of an operation. */
export const LIMITS = "limits"

/** Records that a request was counted, whatever its response: the limits are available. */
export const recordCounted = (outage: StoreOutage | undefined, now: number): Step => {
  if (outage === undefined || !outage.failing.has(LIMITS)) return [undefined, outage]
  return removeFailures(outage, [LIMITS], now)
}

/** Records the success of operations. */
export const recordSuccess = (
  outage: StoreOutage | undefined,
  operations: ReadonlyArray<string>,
  now: number
): Step => {
  if (outage === undefined) return [undefined, undefined]
  // Every request uses the limits, so their outage needs no settling time: it ends with the next counted request.
  const isSettled = !outage.failing.has(LIMITS) && now - outage.failedAt >= SETTLED_MS
  return removeFailures(outage, isSettled ? outage.failing : operations, now)
}

const removeFailures = (outage: StoreOutage, operations: Iterable<string>, now: number): Step => {
  const failing = new Set(outage.failing)
  for (const operation of operations) failing.delete(operation)
  return failing.size === 0
    ? [{ _tag: "Ended", afterMs: now - outage.beganAt }, undefined]
    : [undefined, { ...outage, failing }]
}

/** Logs a change. */
export const log = (change: Change): Effect.Effect<void> =>
  change._tag === "Began"
    ? Effect.logError("database unavailable")
    : Effect.annotateLogs(Effect.logInfo("database available again"), "afterMs", change.afterMs)
