/**
 * One caller's limits as the caller sees them, through a storage port or over HTTP: laws about limits are written once,
 * on this.
 */
import type * as Effect from "effect/Effect"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Failure } from "./Outcome.ts"

/** What the response to one request showed of the caller's limits. */
export interface Reading {
  readonly admitted: boolean
  /** Whether the denial is a ban; `undefined` when the subject does not tell. */
  readonly banned: boolean | undefined
  readonly limit: number
  readonly remaining: number
  /** Epoch seconds. */
  readonly resetAt: number
  /** Seconds to wait after a denial; 0 when admitted. */
  readonly retryAfter: number
  /** Earliest and latest moment, epoch ms of the subject's time, at which it can have been decided. */
  readonly between: readonly [earliest: number, latest: number]
}

export interface Meter {
  /** What the caller is held to. */
  readonly plan: Plan
  /** Sends one request. */
  readonly spend: Effect.Effect<Reading, Failure>
  /** Sends this many at once. */
  readonly spendAtOnce: (requests: number) => Effect.Effect<ReadonlyArray<Reading>, Failure>
  /** Waits until the whole plan is free again. */
  readonly refill: Effect.Effect<void, Failure>
  /** Lets at least so many ms of the subject's time pass, at most a little more; `Undecided` where nobody can wait. */
  readonly pass: (ms: number) => Effect.Effect<void, Failure>
  /** The subject's time, epoch ms. */
  readonly now: Effect.Effect<number, Failure>
  /** Whether the subject's time can be moved without waiting. */
  readonly canTravel: boolean
}
