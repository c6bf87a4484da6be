/** Computes the delay before a worker that exited is replaced, so that repeated failures do not use up a core. */

/** The delay in milliseconds before the first replacement; each further replacement doubles it. */
export const FIRST_MS = 1_000

/** The maximum delay in milliseconds. */
export const MAX_MS = 30_000

/** A worker that served this many milliseconds was healthy; after its exit, the delay is `FIRST_MS` again. */
export const HEALTHY_MS = 60_000

/** How many workers have exited in a row since the latest healthy one (inclusive) or since startup. */
export type Backoff = number

/** The state before any worker has exited. */
export const initial: Backoff = 0

/** Returns the delay in milliseconds after a worker that served for `servedMs`, and the next state. */
export const next = (failures: Backoff, servedMs: number): readonly [delayMs: number, next: Backoff] => {
  const before = servedMs >= HEALTHY_MS ? initial : failures
  return [Math.min(FIRST_MS * 2 ** before, MAX_MS), before + 1]
}
