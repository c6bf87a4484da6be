/**
 * When a key is banned for going on after a 429 (contract §8.4.3, which leaves every number open).
 *
 * Each denied request is told a slot of its own, up to as many as the bucket holds (`Debt`). A *strike* is a denied
 * request for which no slot is left, at most one each `strikeIntervalMs`. `strikes` of them within `withinMs` ban the key
 * for the next of `durationsMs`. A day without strike or ban takes one step back. Clients that wait as told, as many as
 * the bucket holds, never get a strike; one that waits at most 30 s, as undici's RetryAgent does, is never banned.
 */
import * as Context from "effect/Context"

/** The numbers of the rule above; what `isValid` refuses makes no sound state. */
export interface BanPolicy {
  /** Strikes that make a ban. */
  readonly strikes: number
  /** Milliseconds, from the first strike on, within which they count together. */
  readonly withinMs: number
  /** Milliseconds that must pass between two strikes: a burst sent at once is one offence. */
  readonly strikeIntervalMs: number
  /** Milliseconds of the first ban, the second, …; the last one repeats. */
  readonly durationsMs: readonly [number, ...ReadonlyArray<number>]
  /** Milliseconds without strike or ban after which the next ban is one step milder. */
  readonly cleanMs: number
}

/** 20 strikes within 5 minutes; bans of 1, 5, 15 and 60 minutes; a step back for each clean day. */
export const standard: BanPolicy = {
  strikes: 20,
  withinMs: 300_000,
  strikeIntervalMs: 1_000,
  durationsMs: [60_000, 300_000, 900_000, 3_600_000],
  cleanMs: 86_400_000
}

/** Longest time in a policy, about 31 years: sums of times stay exact integers. */
export const maxMs = 1_000_000_000_000

const isWhole = (value: number, min: number): boolean =>
  Number.isInteger(value) && value >= min && value <= maxMs

/** Whether a policy has whole numbers only: at least one strike and one duration, no time below 0, none above `maxMs`. */
export const isValid = ({ cleanMs, durationsMs, strikeIntervalMs, strikes, withinMs }: BanPolicy): boolean =>
  isWhole(strikes, 1) &&
  isWhole(withinMs, 1) &&
  isWhole(strikeIntervalMs, 0) &&
  isWhole(cleanMs, 1) &&
  Array.isArray(durationsMs) &&
  durationsMs.length > 0 &&
  durationsMs.every((duration) => isWhole(duration, 1))

/** The policy in force, for the service and for stores that must know when a state is spent. */
export const BanPolicy = Context.Reference<BanPolicy>("animal-store/core/limits/BanPolicy", {
  defaultValue: () => standard
})
