/**
 * Judges from the outcomes of requests whether the stores work, for `/readyz`: a probe may succeed while requests fail,
 * for example because of a damaged page that the probe does not read. Times are monotonic milliseconds.
 */

/** Consecutive failures of an operation after which the stores count as failing. */
export const MAX_FAILURES = 5

/**
 * Milliseconds after the latest failure for which they count as failing. After that the probe decides: a node that a load
 * balancer has taken out gets no requests that could succeed.
 */
export const HOLD_MS = 10_000

/** Milliseconds after which a failure no longer counts as consecutive to the one before. */
export const MEMORY_MS = 60_000

interface Streak {
  readonly failures: number
  readonly failedAt: number
}

/**
 * The consecutive failures of each operation that has any. Reads that succeed say nothing about inserts, so each
 * operation is judged by itself. Only failures of stores are counted, which no client can cause by what it sends.
 */
export type StoreHealth = ReadonlyMap<string, Streak>

/** Before any request. */
export const initial: StoreHealth = new Map()

/** What has failed when a request did not get as far as its operation. */
export const ADMISSION = "admission"

/** After a store has failed in an operation, or in `ADMISSION`. */
export const failed = (health: StoreHealth, operation: string, now: number): StoreHealth => {
  const streak = health.get(operation)
  const failures = streak === undefined || now - streak.failedAt > MEMORY_MS ? 0 : streak.failures
  return new Map(health).set(operation, { failures: failures + 1, failedAt: now })
}

/** After an operation has succeeded, and admission before it. */
export const succeeded = (health: StoreHealth, operation: string): StoreHealth => {
  if (!health.has(operation) && !health.has(ADMISSION)) return health
  const next = new Map(health)
  next.delete(operation)
  next.delete(ADMISSION)
  return next
}

/** Whether requests have been failing until now. */
export const isFailing = (health: StoreHealth, now: number): boolean =>
  [...health.values()].some(({ failedAt, failures }) => failures >= MAX_FAILURES && now - failedAt < HOLD_MS)
