/** Generates requests around all boundaries of a state, for the law that a store counts like `RateLimit.step`. */
import * as fc from "fast-check"
import type { BanPolicy } from "../../../core/limits/BanPolicy.ts"
import * as BanPolicies from "../../../core/limits/BanPolicy.ts"
import * as Plan from "../../../core/limits/Plan.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"

/** A time in the 22nd century, in epoch ms: a store may use the machine's clock to delete spent states. */
export const FUTURE = Date.UTC(2140, 0, 1)

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** Origins of a request's time: the previous request of any caller (`clock`), or a boundary of the caller's state. */
export const origins = [
  "clock",
  "minute",
  "midnight",
  "last refill",
  "retry",
  "strike interval",
  "strike window",
  "ban end",
  "clean period"
] as const

/** Consecutive requests of one caller. */
export interface Move {
  readonly key: "a" | "b"
  readonly policy: RateLimit.Policy
  readonly origin: (typeof origins)[number]
  readonly offsetMs: number
  readonly requests: number
  /** Milliseconds between the requests. */
  readonly intervalMs: number
  /** Whether the requests are counted by `modify`, even if the store has `consume`. */
  readonly byModify: boolean
}

/** Generates plans, some of them at the ends of the valid range. */
export const plan: fc.Arbitrary<Plan.Plan> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      { perMinute: 1, perDay: 2 },
      { perMinute: 1, perDay: 9 },
      { perMinute: 3, perDay: 3 },
      { perMinute: 7, perDay: 1_000 }
    )
  },
  fc.constantFrom(
    Plan.standard.Free,
    { perMinute: 1, perDay: Plan.maxRequests },
    { perMinute: Plan.maxRequests, perDay: 1 },
    { perMinute: Plan.maxRequests, perDay: Plan.maxRequests }
  ),
  fc.record({
    perMinute: fc.integer({ min: 1, max: 2_000 }),
    perDay: fc.integer({ min: 1, max: Plan.maxRequests })
  })
)

/** A policy that bans at the first strike. */
export const quick: BanPolicy = {
  strikes: 1,
  withinMs: 10 * MINUTE,
  strikeIntervalMs: 0,
  durationsMs: [MINUTE, 2 * MINUTE, HOUR, 40 * DAY],
  cleanMs: HOUR
}

export const offending: BanPolicy = {
  strikes: 3,
  withinMs: 3 * MINUTE,
  strikeIntervalMs: SECOND,
  durationsMs: [20 * SECOND, 5 * MINUTE],
  cleanMs: 10 * MINUTE
}

/** A policy with a single level, so that a state from another policy may have a level that it does not define. */
export const only: BanPolicy = {
  strikes: 1,
  withinMs: MINUTE,
  strikeIntervalMs: 0,
  durationsMs: [MINUTE],
  cleanMs: 100 * DAY
}

export const stepping: BanPolicy = {
  strikes: 2,
  withinMs: 5 * SECOND,
  strikeIntervalMs: 500,
  durationsMs: [1, SECOND, 90 * SECOND, 2 * HOUR],
  cleanMs: DAY
}

export const lasting: BanPolicy = {
  strikes: 2,
  withinMs: DAY,
  strikeIntervalMs: MINUTE,
  durationsMs: [BanPolicies.maxMs],
  cleanMs: 7
}

/** Generates policies of bans; `undefined` is for callers that cannot be banned. */
const ban: fc.Arbitrary<BanPolicy | undefined> = fc.constantFrom(
  quick,
  offending,
  offending,
  only,
  BanPolicies.standard,
  undefined,
  stepping,
  lasting
)

/** Generates offsets from an origin in ms, negative if before it; most are small. */
export const offsetMs: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -1, max: 1 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * SECOND }) },
  fc.constantFrom(SECOND, MINUTE - 1, MINUTE, MINUTE + 1, DAY - 1, DAY),
  fc.integer({ min: 0, max: 3 * DAY }),
  fc.integer({ min: -2 * MINUTE, max: -1 }),
  fc.integer({ min: -2 * DAY, max: -1 })
)

/** Generates intervals in ms between the requests of a move. */
export const intervalMs: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 499, 999, SECOND) },
  fc.integer({ min: 0, max: MINUTE })
)

const moveUnder = (policy: fc.Arbitrary<RateLimit.Policy>): fc.Arbitrary<Move> =>
  fc.record({
    key: fc.constantFrom("a", "a", "a", "b"),
    policy,
    origin: fc.constantFrom(...origins, "clock" as const, "ban end" as const),
    offsetMs,
    requests: fc.oneof(
      { weight: 3, arbitrary: fc.constant(1) },
      { weight: 2, arbitrary: fc.integer({ min: 2, max: 6 }) }
    ),
    intervalMs,
    byModify: fc.boolean()
  })

/** Generates histories in which most moves have the same policy; otherwise few callers would ever be banned. */
export const moves: fc.Arbitrary<ReadonlyArray<Move>> = fc
  .record({ plan, ban })
  .chain((usual) =>
    fc.array(
      moveUnder(
        fc.oneof({ weight: 5, arbitrary: fc.constant<RateLimit.Policy>(usual) }, fc.record({ plan, ban }))
      ),
      { maxLength: 25, size: "max" }
    )
  )

/** Returns the moves of a caller that is banned at each level in sequence, and then gets the policy `only`. */
const offender = (policy: BanPolicy): ReadonlyArray<Move> => {
  const provoke = (inForce: BanPolicy): Move => ({
    key: "a",
    policy: { plan: { perMinute: 1, perDay: 9 }, ban: inForce },
    origin: "ban end",
    offsetMs: 0,
    requests: 6,
    intervalMs: SECOND,
    byModify: false
  })
  return [...policy.durationsMs.map(() => provoke(policy)), provoke(only)]
}

/** Returns a policy with this plan, whose callers cannot be banned. */
const unbanned = (of: Plan.Plan): RateLimit.Policy => ({ plan: of, ban: undefined })

const steady: Omit<Move, "origin" | "requests"> = {
  key: "a",
  policy: unbanned({ perMinute: 3, perDay: 5 }),
  offsetMs: 0,
  intervalMs: 1,
  byModify: false
}

const slotted = { ...steady, policy: unbanned({ perMinute: 4, perDay: 6 }) }

export const examples: ReadonlyArray<ReadonlyArray<Move>> = [
  offender(quick),
  offender(offending),
  [
    { ...steady, origin: "clock", requests: 5 },
    { ...steady, origin: "last refill", requests: 4 },
    { ...steady, origin: "midnight", offsetMs: -1, requests: 2 },
    { ...steady, origin: "clock", requests: 2 },
    { ...steady, origin: "clock", offsetMs: -DAY, requests: 2 },
    { ...steady, origin: "clock", byModify: true, requests: 1 },
    // The remaining budget of key b exceeds the plan of its next move.
    { ...steady, policy: unbanned(Plan.standard.Free), key: "b", origin: "clock", requests: 1 },
    { ...steady, key: "b", origin: "clock", requests: 4 }
  ],
  // More requests than slots, by a caller that cannot be banned.
  [{ ...steady, policy: unbanned({ perMinute: 2, perDay: 9 }), origin: "clock", requests: 6 }],
  // Slots that are used, dropped, and released while the daily limit is used up.
  [
    { ...slotted, origin: "clock", requests: 7 },
    { ...slotted, origin: "retry", requests: 3 },
    { ...slotted, origin: "clock", offsetMs: 5 * SECOND, requests: 2 },
    { ...slotted, origin: "midnight", requests: 5 }
  ]
]

/** The time of the first request: shortly before a midnight in the far future. */
export const BEGINNING = FUTURE - 12_345

/** Returns the time of a move's first request. */
export const timeOf = (
  { offsetMs: offset, origin, policy }: Move,
  clock: number,
  state: RateLimit.State | undefined
): number => originOf(origin, clock, state, policy) + offset

/**
 * Returns the time of an origin. Returns `clock`, the time of the latest request, if there is no state or if the origin
 * is years away.
 */
export const originOf = (
  origin: Move["origin"],
  clock: number,
  state: RateLimit.State | undefined,
  policy: RateLimit.Policy
): number => {
  if (state === undefined) return clock
  const ban = policy.ban ?? BanPolicies.standard
  // A boundary years away, such as 0 or the end of a very long ban, is replaced by the current time.
  const orNow = (time: number): number => (Math.abs(time - clock) < 1_000 * DAY ? time : clock)
  switch (origin) {
    case "clock":
      return clock
    case "minute":
      return (Math.floor(clock / MINUTE) + 1) * MINUTE
    case "midnight":
      return (Math.floor(clock / DAY) + 1) * DAY
    case "last refill":
      return state.at + MINUTE
    case "retry":
      // The slot that the latest request would have if it had been denied.
      return orNow(clock + RateLimit.verdictOf(false, state, clock, policy).retryAfter * SECOND)
    case "strike interval":
      return orNow(state.strikeAt + ban.strikeIntervalMs)
    case "strike window":
      return orNow(state.strikesFrom + ban.withinMs)
    case "ban end":
      return orNow(state.bannedUntil)
    case "clean period":
      return orNow(Math.max(state.bannedUntil, state.strikeAt) + ban.cleanMs)
  }
}
