/**
 * Defines when a key is banned for repeated requests after a 429 (contract §8.4.3, which defines no numbers).
 *
 * Each denied request gets a retry slot of its own while slots are free (`Debt`). A *strike* is a denied request
 * without a free slot; at most one strike counts per `strikeIntervalMs`. `strikes` strikes within `withinMs` ban the
 * key for the next duration in `durationsMs`. Each period of `cleanMs` without a strike or ban shortens the next ban by
 * one step.
 *
 * Clients that share a key and respect `Retry-After` never get a strike if a full bucket has a token for each client
 * and the plan does not change. Under the standard policy, a single client that waits at most 30 s, as undici's
 * RetryAgent does, is never banned.
 */
import * as Context from "effect/Context"
import * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"

/** The parameters of the ban policy. The service does not start with a policy that `isValid` rejects. */
export interface BanPolicy {
  /** Number of strikes that cause a ban. */
  readonly strikes: number
  /** Length of the strike window in milliseconds, counted from its first strike. */
  readonly withinMs: number
  /** Minimum time between two strikes in milliseconds, so that a burst counts as one strike. */
  readonly strikeIntervalMs: number
  /** Durations of consecutive bans in milliseconds; the last one repeats. */
  readonly durationsMs: readonly [number, ...ReadonlyArray<number>]
  /** Time without a strike or ban, in milliseconds, after which the next ban is one step shorter. */
  readonly cleanMs: number
}

/** The default policy: 20 strikes in 5 minutes; bans of 1, 5, 15 and 60 minutes; one step shorter per clean day. */
export const standard: BanPolicy = {
  strikes: 20,
  withinMs: 300_000,
  strikeIntervalMs: 1_000,
  durationsMs: [60_000, 300_000, 900_000, 3_600_000],
  cleanMs: 86_400_000
}

/** Maximum of each number in a policy; about 31 years in milliseconds, so that sums of times are exact integers. */
export const maxMs = 1_000_000_000_000

const positive = Rule.integer({ min: 1, max: maxMs })

const isDuration = (value: unknown): value is number => positive.isValid(value)

/** The validation rule of each parameter. */
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

/** The validation rule of a policy: integers from 1 (`strikeIntervalMs`: 0) to `maxMs`, and at least one duration. */
export const rule: Rule.Rule<BanPolicy> = Options.record(rules)

/** Returns whether a policy satisfies `rule`. */
export const isValid = rule.isValid

/** The configured policy, for the service and for stores that compute `RateLimit.spentAt`. */
export const BanPolicy = Context.Reference<BanPolicy>("animal-store/core/limits/BanPolicy", {
  defaultValue: () => standard
})
