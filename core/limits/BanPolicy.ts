/**
 * When a key is banned for repeated requests after a 429 (contract §8.4.3, which defines no numbers).
 *
 * Each denied request gets a retry slot of its own, at most as many as the bucket holds (`Debt`). A *strike* is a
 * denied request without a free slot, at most one per `strikeIntervalMs`. `strikes` strikes within `withinMs` ban the
 * key for the next of `durationsMs`. Each period of `cleanMs` without strike or ban lowers the next duration by one
 * step. Clients that respect `Retry-After`, at most as many as the bucket holds, never get a strike. A client that
 * waits at most 30 s, as undici's RetryAgent does, is never banned.
 */
import * as Context from "effect/Context"

/** The parameters of the rule above; the service rejects a policy that `isValid` rejects. */
export interface BanPolicy {
  /** Number of strikes that cause a ban. */
  readonly strikes: number
  /** Length of the strike window in milliseconds, from its first strike. */
  readonly withinMs: number
  /** Minimum milliseconds between two strikes, so that a burst counts once. */
  readonly strikeIntervalMs: number
  /** Durations of consecutive bans in milliseconds; the last one repeats. */
  readonly durationsMs: readonly [number, ...ReadonlyArray<number>]
  /** Milliseconds without strike or ban after which the next ban is one step shorter. */
  readonly cleanMs: number
}

/** 20 strikes within 5 minutes; bans of 1, 5, 15 and 60 minutes; one step shorter for each clean day. */
export const standard: BanPolicy = {
  strikes: 20,
  withinMs: 300_000,
  strikeIntervalMs: 1_000,
  durationsMs: [60_000, 300_000, 900_000, 3_600_000],
  cleanMs: 86_400_000
}

/** Maximum time in a policy, about 31 years, so that sums of times are exact integers. */
export const maxMs = 1_000_000_000_000

const isIntegerFrom = (value: number, min: number): boolean =>
  Number.isInteger(value) && value >= min && value <= maxMs

/** Whether a policy has only integers, at least one strike and one duration, and no time below 0 or above `maxMs`. */
export const isValid = ({ cleanMs, durationsMs, strikeIntervalMs, strikes, withinMs }: BanPolicy): boolean =>
  isIntegerFrom(strikes, 1) &&
  isIntegerFrom(withinMs, 1) &&
  isIntegerFrom(strikeIntervalMs, 0) &&
  isIntegerFrom(cleanMs, 1) &&
  Array.isArray(durationsMs) &&
  durationsMs.length > 0 &&
  durationsMs.every((duration) => isIntegerFrom(duration, 1))

/** The policy in force, for the service and for stores that compute `RateLimit.spentAt`. */
export const BanPolicy = Context.Reference<BanPolicy>("animal-store/core/limits/BanPolicy", {
  defaultValue: () => standard
})
