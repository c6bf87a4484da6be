/** How long a worker that ended waits for its successor: a process that keeps dying must not use up a core. */

/** The delay of the first successor in milliseconds; it doubles with each further one. */
export const FIRST_MS = 1_000

/** The longest delay in milliseconds. */
export const MAX_MS = 30_000

/** A worker that served for this many milliseconds is healthy: the delay starts again at `FIRST_MS`. */
export const HEALTHY_MS = 60_000

/** The number of workers in a row that ended before they were healthy. */
export type Backoff = number

/** No worker has ended. */
export const initial: Backoff = 0

/** Returns the delay in milliseconds after a worker that served for `servedMs`, and the next state. */
export const next = (failures: Backoff, servedMs: number): readonly [delayMs: number, next: Backoff] => {
  const before = servedMs >= HEALTHY_MS ? initial : failures
  return [Math.min(FIRST_MS * 2 ** before, MAX_MS), before + 1]
}
