/**
 * Derives from the outcomes of requests whether the stores work: for `/readyz`, because a probe may succeed while
 * requests fail, for example because of a damaged database page that the probe does not read; and for the log, where one
 * failure is enough to begin an outage. Times are monotonic milliseconds.
 */

/** Number of consecutive failures of an operation after which the stores count as failing. */
export const MAX_FAILURES = 5

/**
 * Time for which the stores count as failing after the latest failure, in milliseconds. After that, only the probe
 * decides, because a node that a load balancer has removed gets no requests that could succeed.
 */
export const HOLD_MS = 10_000

/** Time since the latest failure, in milliseconds, after which the next failure starts a new count. */
export const MEMORY_MS = 60_000

/**
 * Milliseconds after the latest failure from which any success ends an outage, because clients may not request the
 * failed operation again.
 */
export const SETTLED_MS = 10_000

/** The name under which store failures during admission are recorded, instead of an operation. */
export const ADMISSION = "admission"

/** The name under which requests that are admitted uncounted are recorded as failures, instead of an operation. */
export const LIMITS = "limits"

/** An outage began, or it ended after `afterMs` milliseconds. */
export type Change = { readonly _tag: "Began" } | { readonly _tag: "Ended"; readonly afterMs: number }

export class StoreHealth {
  /**
   * The consecutive failures per operation. Operations are tracked separately, because successful reads do not prove
   * that inserts work. Only store failures count, so clients cannot affect readiness with invalid requests.
   */
  readonly streaks = new Map<string, { readonly failures: number; readonly failedAt: number }>()
  /** The operations that failed during the outage and have not succeeded since; empty without an outage. */
  readonly #failing = new Set<string>()
  #beganAt = 0
  #failedAt = 0

  /** Whether the stores currently count as failing. */
  isFailing(now: number): boolean {
    return [...this.streaks.values()].some(
      ({ failedAt, failures }) => failures >= MAX_FAILURES && now - failedAt < HOLD_MS
    )
  }

  /** Whether there is an outage. */
  get isOutage(): boolean {
    return this.#failing.size > 0
  }

  /** Records a store failure in an operation, or in `ADMISSION`. */
  recordFailure(operation: string, now: number): Change | undefined {
    const streak = this.streaks.get(operation)
    const failures = streak === undefined || now - streak.failedAt > MEMORY_MS ? 0 : streak.failures
    this.streaks.set(operation, { failures: failures + 1, failedAt: now })
    return this.addToOutage(operation, now)
  }

  /** Records the success of an operation, and of the admission before it; an outage continues. */
  recordSuccess(operation: string): void {
    this.streaks.delete(operation)
    this.streaks.delete(ADMISSION)
  }

  /** Records a failure only for the log. */
  addToOutage(operation: string, now: number): Change | undefined {
    const isFirst = !this.isOutage
    if (isFirst) this.#beganAt = now
    this.#failedAt = now
    this.#failing.add(operation)
    return isFirst ? { _tag: "Began" } : undefined
  }

  /** Records successes only for the log. */
  removeFromOutage(operations: ReadonlyArray<string>, now: number): Change | undefined {
    // Every request uses the limits, so their outage needs no settling time: it ends with the next counted request.
    const isSettled = !this.#failing.has(LIMITS) && now - this.#failedAt >= SETTLED_MS
    return this.#remove(isSettled ? this.#failing : operations, now)
  }

  /** Records only for the log that a request was counted, whatever its response: the limits are available. */
  recordCounted(now: number): Change | undefined {
    return this.#remove([LIMITS], now)
  }

  #remove(operations: Iterable<string>, now: number): Change | undefined {
    if (!this.isOutage) return undefined
    for (const operation of operations) this.#failing.delete(operation)
    return this.isOutage ? undefined : { _tag: "Ended", afterMs: now - this.#beganAt }
  }
}
