/**
 * Derives from the outcomes of requests whether the stores work, for `/readyz`: a probe may succeed while requests
 * fail, for example because of a damaged database page that the probe does not read. Times are monotonic milliseconds.
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

interface Streak {
  readonly failures: number
  readonly failedAt: number
}

/**
 * The consecutive failures per operation. Operations are tracked separately, because successful reads do not prove that
 * inserts work. Only store failures count, so clients cannot affect readiness with invalid requests.
 */
export type StoreHealth = ReadonlyMap<string, Streak>

/** The state before the first request. */
export const initial: StoreHealth = new Map()

/** The name under which store failures during admission are recorded, instead of an operation. */
export const ADMISSION = "admission"

/** Records a store failure in an operation, or in `ADMISSION`. */
export const recordFailure = (health: StoreHealth, operation: string, now: number): StoreHealth => {
  const streak = health.get(operation)
  const failures = streak === undefined || now - streak.failedAt > MEMORY_MS ? 0 : streak.failures
  return new Map(health).set(operation, { failures: failures + 1, failedAt: now })
}

/** Records the success of an operation, and of the admission before it. */
export const recordSuccess = (health: StoreHealth, operation: string): StoreHealth => {
  if (!health.has(operation) && !health.has(ADMISSION)) return health
  const next = new Map(health)
  next.delete(operation)
  next.delete(ADMISSION)
  return next
}

/** Returns whether the stores currently count as failing. */
export const isFailing = (health: StoreHealth, now: number): boolean =>
  [...health.values()].some(({ failedAt, failures }) => failures >= MAX_FAILURES && now - failedAt < HOLD_MS)
