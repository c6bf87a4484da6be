/**
 * One caller's limits as the caller sees them, through a storage port or over HTTP. Laws about limits are written once,
 * against this interface.
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
  /** Epoch seconds. */
  readonly resetAt: number
  /** Seconds to wait after a denial; 0 when admitted. */
  readonly retryAfter: number
  /** Earliest and latest time (epoch ms, subject's clock) at which the subject can have decided. */
  readonly between: readonly [earliest: number, latest: number]
}

export interface Meter {
  /** The caller's limits. */
  readonly plan: Plan
  /** Sends one request. */
  readonly spend: Effect.Effect<Reading, Failure>
  /** Sends so many requests at once. */
  readonly spendAtOnce: (requests: number) => Effect.Effect<ReadonlyArray<Reading>, Failure>
  /** Waits until the whole plan is free again. */
  readonly refill: Effect.Effect<void, Failure>
  /** Lets at least `ms` of the subject's time pass, and little more; `Undecided` when the wait is too long. */
  readonly pass: (ms: number) => Effect.Effect<void, Failure>
  /** The subject's time, epoch ms. */
  readonly now: Effect.Effect<number, Failure>
  /** Whether the subject's time can be moved without waiting. */
  readonly canTravel: boolean
}
