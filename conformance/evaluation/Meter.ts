/**
 * Defines the limits of one caller as the caller observes them. The same laws use this interface for a storage port and
 * over HTTP.
 */
import type * as Effect from "effect/Effect"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Failure } from "./Outcome.ts"

/** What one response shows about the caller's limits. */
export interface Reading {
  readonly admitted: boolean
  /** Whether the denial is a ban; `undefined` when the response does not show it. */
  readonly banned: boolean | undefined
  readonly limit: number
  readonly remaining: number
  /** The time of Reset in epoch seconds. */
  readonly resetAt: number
  /** Seconds to wait after a denial; 0 for an admitted request. */
  readonly retryAfter: number
  /** Earliest and latest time (epoch ms, subject's clock) at which the subject can have decided. */
  readonly decidedBetween: readonly [earliest: number, latest: number]
}

export interface Meter {
  /** The numbers of requests that the caller's plan allows. */
  readonly plan: Plan
  /** Sends one request and returns its reading, even if it is denied. */
  readonly spend: Effect.Effect<Reading, Failure>
  /** Sends this number of requests concurrently. */
  readonly spendConcurrently: (requests: number) => Effect.Effect<ReadonlyArray<Reading>, Failure>
  /** Waits, or changes the caller, so that the full per-minute limit is available again, as far as is known. */
  readonly refill: Effect.Effect<void, Failure>
  /** Advances the subject's time by `ms` milliseconds, or little more; fails with `Undecided` if the wait is too long. */
  readonly advance: (ms: number) => Effect.Effect<void, Failure>
  /** The subject's time in epoch ms. */
  readonly now: Effect.Effect<number, Failure>
  /** Whether the subject's time can be advanced without waiting. */
  readonly hasClock: boolean
}
