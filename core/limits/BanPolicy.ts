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
import * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"

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

const positive = Rule.integer({ min: 1, max: maxMs })

const isDuration = (value: unknown): value is number => positive.isValid(value)

/** The rule of each parameter. */
export const rules: Options.Rules<BanPolicy> = {
  strikes: positive,
  withinMs: positive,
  strikeIntervalMs: Rule.integer({ min: 0, max: maxMs }),
  durationsMs: Rule.make(
    (value): value is BanPolicy["durationsMs"] =>
      Array.isArray(value) && value.length > 0 && value.every(isDuration),
    `must be a list of at least one whole number from 1 to ${maxMs}`
  ),
  cleanMs: positive
}

/** The rule of a whole policy: only integers, at least one strike and one duration, no time below 0 or above `maxMs`. */
export const rule: Rule.Rule<BanPolicy> = Options.record(rules)

/** Whether a policy obeys `rule`. */
export const isValid = rule.isValid

/** The policy in force, for the service and for stores that compute `RateLimit.spentAt`. */
export const BanPolicy = Context.Reference<BanPolicy>("animal-store/core/limits/BanPolicy", {
  defaultValue: () => standard
})
