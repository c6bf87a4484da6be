/** Provides policies of rate limits, and times around all boundaries of a state. */
import * as fc from "fast-check"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as BanPolicies from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { FUTURE } from "./States.ts"

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** The time of the first request: shortly before a midnight in the far future. */
export const BEGINNING = FUTURE - 12_345

/** Policies of bans by name; `never` is for callers that cannot be banned. */
export const bans = {
  never: undefined,
  standard: BanPolicies.standard,
  /** Bans at the first strike. */
  quick: {
    strikes: 1,
    withinMs: 10 * MINUTE,
    strikeIntervalMs: 0,
    durationsMs: [MINUTE, 2 * MINUTE, HOUR, 40 * DAY],
    cleanMs: HOUR
  },
  offending: {
    strikes: 3,
    withinMs: 3 * MINUTE,
    strikeIntervalMs: SECOND,
    durationsMs: [20 * SECOND, 5 * MINUTE],
    cleanMs: 10 * MINUTE
  },
  /** Has a single level, so that a state from another policy may have a level that it does not define. */
  only: { strikes: 1, withinMs: MINUTE, strikeIntervalMs: 0, durationsMs: [MINUTE], cleanMs: 100 * DAY },
  stepping: {
    strikes: 2,
    withinMs: 5 * SECOND,
    strikeIntervalMs: 500,
    durationsMs: [1, SECOND, 90 * SECOND, 2 * HOUR],
    cleanMs: DAY
  },
  lasting: {
    strikes: 2,
    withinMs: DAY,
    strikeIntervalMs: MINUTE,
    durationsMs: [BanPolicies.maxMs],
    cleanMs: 7
  }
} as const satisfies { readonly [name: string]: BanPolicy | undefined }

export type BanName = keyof typeof bans

export interface Policy {
  readonly plan: Plan.Plan
  readonly ban: BanName
}

const perMinute = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 3, 7) },
  fc.constantFrom(Plan.standard.Free.perMinute, Plan.maxRequests),
  fc.integer({ min: 1, max: 2_000 })
)
const perDay = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(2, 3, 9, 1_000) },
  fc.constantFrom(1, Plan.maxRequests),
  fc.integer({ min: 1, max: Plan.maxRequests })
)

const plan = fc.record({ perMinute, perDay }, { noNullPrototype: true })

export const policy: fc.Arbitrary<Policy> = fc.record(
  {
    plan,
    ban: fc.constantFrom(...(Object.keys(bans) as ReadonlyArray<BanName>), "offending", "quick")
  },
  { noNullPrototype: true }
)

/** Origins of a request's time: the previous request of any caller (`clock`), or a boundary of the caller's state. */
const times = {
  clock: (clock: number) => clock,
  minute: (clock: number) => (Math.floor(clock / MINUTE) + 1) * MINUTE,
  midnight: (clock: number) => (Math.floor(clock / DAY) + 1) * DAY,
  "last refill": (_clock: number, { at }: RateLimit.State) => at + MINUTE,
  // The slot that the latest request would have if it had been denied.
  retry: (clock: number, state: RateLimit.State, of: RateLimit.Policy) =>
    clock + RateLimit.verdictOf(false, state, clock, of).retryAfter * SECOND,
  "strike interval": (_clock: number, { strikeAt }: RateLimit.State, { ban }: RateLimit.Policy) =>
    strikeAt + (ban?.strikeIntervalMs ?? 0),
  "strike window": (_clock: number, { strikesFrom }: RateLimit.State, { ban }: RateLimit.Policy) =>
    strikesFrom + (ban?.withinMs ?? 0),
  "ban end": (_clock: number, { bannedUntil }: RateLimit.State) => bannedUntil,
  "clean period": (_clock: number, { bannedUntil, strikeAt }: RateLimit.State, { ban }: RateLimit.Policy) =>
    Math.max(bannedUntil, strikeAt) + (ban?.cleanMs ?? 0)
} as const

export type Origin = keyof typeof times

const origins = Object.keys(times) as ReadonlyArray<Origin> // exactly its keys

export const origin: fc.Arbitrary<Origin> = fc.oneof(
  { weight: 6, arbitrary: fc.constant("clock" as const) },
  { weight: 4, arbitrary: fc.constantFrom(...origins, "ban end") }
)

/** Returns the time of an origin, or `clock` if there is no state or if the origin is years away. */
export const timeOf = (
  from: Origin,
  clock: number,
  state: RateLimit.State | undefined,
  of: RateLimit.Policy
): number => {
  if (state === undefined) return clock
  const time = times[from](clock, state, of)
  return Math.abs(time - clock) < 1_000 * DAY ? time : clock
}

/** Generates offsets from an origin in ms, negative if before it; most are small. */
export const offsetMs: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -1, max: 1 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * SECOND }) },
  fc.constantFrom(499, 999, SECOND, MINUTE - 1, MINUTE, MINUTE + 1, DAY - 1, DAY),
  fc.integer({ min: -2 * DAY, max: 3 * DAY }),
  fc.integer({ min: -2 * MINUTE, max: MINUTE })
)
