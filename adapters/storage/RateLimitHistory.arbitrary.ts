/** Generates request histories for the laws of stores, with requests at every boundary of the stored state. */
import * as fc from "fast-check"
import { DAY, HOUR, MINUTE, SECOND } from "../../conformance/ports/LimitDraws.ts"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as BanPolicies from "../../core/limits/BanPolicy.ts"
import * as Debt from "../../core/limits/Debt.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type * as RateLimitArbitrary from "../../core/limits/RateLimit.arbitrary.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"

/** Policies of bans by name. */
const policies = {
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
} as const satisfies { readonly [name: string]: BanPolicy }

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

type Origin = keyof typeof times

const origins = Object.keys(times) as ReadonlyArray<Origin> // exactly its keys

const origin: fc.Arbitrary<Origin> = fc.oneof(
  { weight: 6, arbitrary: fc.constant("clock" as const) },
  { weight: 4, arbitrary: fc.constantFrom(...origins, "ban end") }
)

/** Returns the time of an origin, or `clock` if there is no state or if the origin is years away. */
const timeOfOrigin = (
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
const offsetMs: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -1, max: 1 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * SECOND }) },
  fc.constantFrom(499, 999, SECOND, MINUTE - 1, MINUTE, MINUTE + 1, DAY - 1, DAY),
  fc.integer({ min: -2 * DAY, max: 3 * DAY }),
  fc.integer({ min: -2 * MINUTE, max: MINUTE })
)

export interface Move {
  readonly key: string
  readonly plan: Plan.Plan
  /** The index of the ban policy in `Bans`; `undefined` means that no ban policy applies. */
  readonly ban: 0 | 1 | undefined
  readonly origin: Origin
  readonly offsetMs: number
  readonly requests: number
  /** Number of requests as which each of them counts; at most as the whole limit. */
  readonly cost: number
  /** Milliseconds between the requests. */
  readonly intervalMs: number
}

const move: fc.Arbitrary<Move> = fc.record({
  key: fc.constantFrom("a", "a", "a", "b"),
  plan,
  ban: fc.oneof(
    { weight: 14, arbitrary: fc.constant(0 as const) },
    { weight: 4, arbitrary: fc.constant(1 as const) },
    fc.constant(undefined)
  ),
  origin,
  offsetMs,
  requests: fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.integer({ min: 2, max: 8 }) }
  ),
  cost: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.integer({ min: 2, max: 5 }) },
    fc.constant(Plan.maxRequests)
  ),
  intervalMs: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(0, 1, 499, 999, SECOND) },
    fc.integer({ min: 0, max: MINUTE })
  )
})

export const moves: fc.Arbitrary<ReadonlyArray<Move>> = fc.array(move, { maxLength: 60, size: "max" })

/** Generates the standard policy or a harsher one, which bans within a few requests. */
const ban: fc.Arbitrary<BanPolicy> = fc.constantFrom(
  policies.standard,
  policies.quick,
  policies.stepping,
  policies.offending,
  policies.lasting,
  policies.only
)

/** The usual ban policy of a history, and one that sometimes replaces it. */
export type Bans = readonly [BanPolicy, BanPolicy]

export const bans: fc.Arbitrary<Bans> = fc.tuple(ban, ban)

/** Histories of a caller that receives every ban of one policy, and then a ban of a policy with fewer bans. */
export const offenders: ReadonlyArray<readonly [moves: ReadonlyArray<Move>, bans: Bans]> = [
  [policies.quick, policies.only] as const,
  [policies.offending, policies.only] as const
].map((bans) => {
  const strikes = (ban: Move["ban"]): Move => ({
    key: "a",
    plan: { perMinute: 1, perDay: 9 },
    ban,
    origin: "ban end",
    offsetMs: 0,
    requests: 6,
    cost: 1,
    intervalMs: SECOND
  })
  return [[...bans[0].durationsMs.map(() => strikes(0)), strikes(1)], bans]
})

/** Generates times in this century, many of them near a UTC midnight. */
export const moment: fc.Arbitrary<number> = fc
  .tuple(
    fc.integer({ min: 11_000, max: 30_000 }),
    fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: DAY - 1 }))
  )
  .map(([day, ms]) => day * DAY + ms)

/** Returns the time of a move's first request; `clock` is the time of the latest request from any caller. */
const timeOf = (
  { offsetMs, origin }: Move,
  clock: number,
  state: RateLimit.State | undefined,
  policy: RateLimit.Policy
): number => Math.max(timeOfOrigin(origin, clock, state, policy) + offsetMs, 0)

/** One request in a history with several keys. */
export interface Sent extends RateLimitArbitrary.Sent {
  readonly key: string
  readonly cost: number
}

/** Runs the core's step for every request of `moves`, starting at `start`. */
export const play = (start: number, moves: ReadonlyArray<Move>, bans: Bans): ReadonlyArray<Sent> => {
  const states = new Map<string, RateLimit.State>()
  const sent: Array<Sent> = []
  let clock = start
  for (const move of moves) {
    const cost = Math.min(move.cost, move.plan.perMinute, move.plan.perDay)
    const policy = { plan: move.plan, ban: move.ban === undefined ? undefined : bans[move.ban] }
    clock = timeOf(move, clock, states.get(move.key), { plan: move.plan, ban: policy.ban ?? bans[0] })
    for (let count = 0; count < move.requests; count++) {
      if (count > 0) clock += move.intervalMs
      const before = states.get(move.key)
      const [verdict, after] = RateLimit.step(before, clock, policy, cost)
      states.set(move.key, after)
      sent.push({ key: move.key, now: clock, policy, cost, before, verdict, after })
    }
  }
  return sent
}

/** Returns the features that a request exercises; laws collect them to verify that histories cover all features. */
export const features = ({
  after,
  before,
  cost,
  now,
  policy: { ban, plan },
  verdict
}: Sent): Array<string> => {
  const found: Array<string> = [verdict.outcome]
  if (before === undefined) return ["first request", ...found]
  const minuteDenies = after.level < cost * MINUTE
  const dayDenies = after.day === Math.floor(now / DAY) && after.used + cost > plan.perDay
  if (cost > 1) found.push(`${verdict.outcome} with a cost`)
  if (verdict.outcome === "limited") {
    if (minuteDenies && dayDenies) found.push("denied by both windows")
    else found.push(minuteDenies ? "denied by the minute" : "denied by the day")
  }
  const maxSlots = Debt.limit({ level: after.level, isDayUsedUp: dayDenies }, plan)
  const hasNoSlot = verdict.outcome === "limited" && before.debt + cost > maxSlots
  if (verdict.outcome === "limited" && after.debt > before.debt) found.push("given a slot of its own")
  if (hasNoSlot) found.push("no slot left")
  if (verdict.outcome === "admitted" && before.debt > 1) {
    found.push(after.debt === 0 ? "slots cleared by a full bucket" : "slot used")
  }
  if (dayDenies && minuteDenies === false && after.debt < before.debt) {
    found.push("slots of an exhausted day expired")
  }
  if (before.at > now + MINUTE) found.push("clock set back by more than a minute")
  if (before.day * DAY > now + MINUTE) found.push("clock set back by more than a minute over midnight")
  if (now < before.at) found.push("clock set back")
  if (now < before.day * DAY) found.push("clock set back over midnight")
  if (after.day > before.day && before.used > 0) found.push("a new day")
  if (before.level > plan.perMinute * MINUTE) found.push("plan lowered below the remaining tokens")
  if (ban === undefined) {
    if (now < before.bannedUntil) found.push("ban not in force")
    return found
  }
  if (now < before.bannedUntil) found.push("request during a ban")
  if (now === before.bannedUntil) found.push("request at the end of a ban")
  if (after.bannedUntil > before.bannedUntil && after.strikeAt === now) {
    const step = ban.durationsMs.indexOf(after.bannedUntil - now)
    found.push(`ban ${step + 1} of ${ban.durationsMs.length}`)
    if (before.banLevel >= ban.durationsMs.length) found.push("ban of a policy with fewer bans")
  }
  const isStrike = after.strikes > 0 && after.strikeAt === now && after.strikeAt !== before.strikeAt
  if (isStrike && after.strikes > 1) found.push("another strike")
  if (isStrike && before.strikes > 0 && after.strikes === 1) found.push("strikes expired")
  if (after.strikeAt === now && after.banLevel < before.banLevel) found.push("ban level fell")
  const isTooSoon = Math.abs(now - before.strikeAt) < ban.strikeIntervalMs
  if (hasNoSlot && isTooSoon) found.push("too soon for a strike")
  return found
}

/** The features that the histories of a law must cover. */
export const allFeatures: ReadonlyArray<string> = [
  "first request",
  "admitted",
  "limited",
  "banned",
  "admitted with a cost",
  "limited with a cost",
  "banned with a cost",
  "denied by the minute",
  "denied by the day",
  "denied by both windows",
  "given a slot of its own",
  "no slot left",
  "slot used",
  "slots cleared by a full bucket",
  "slots of an exhausted day expired",
  "clock set back",
  "clock set back by more than a minute",
  "clock set back by more than a minute over midnight",
  "clock set back over midnight",
  "a new day",
  "plan lowered below the remaining tokens",
  "ban not in force",
  "request during a ban",
  "request at the end of a ban",
  "ban of a policy with fewer bans",
  "ban 1 of 4",
  "ban 2 of 4",
  "ban 3 of 4",
  "ban 4 of 4",
  "ban 1 of 2",
  "ban 2 of 2",
  "ban 1 of 1",
  "another strike",
  "strikes expired",
  "ban level fell",
  "too soon for a strike"
]

/** Returns histories at the bounds: the largest and smallest plans, the longest bans, the earliest and latest times. */
export const atBounds = (): ReadonlyArray<Sent> => {
  const longest = {
    strikes: 1,
    withinMs: BanPolicies.maxMs,
    strikeIntervalMs: 0,
    durationsMs: [BanPolicies.maxMs],
    cleanMs: BanPolicies.maxMs
  } as const
  const { maxRequests } = Plan
  const plans = [
    { perMinute: maxRequests, perDay: maxRequests },
    { perMinute: 1, perDay: 1 },
    { perMinute: maxRequests, perDay: 1 },
    { perMinute: 1, perDay: maxRequests }
  ]
  const starts = [0, 1, 8_640_000_000_000_000 - 10 * BanPolicies.maxMs]
  const offsets = [0, 0, 1, 59_999, 60_000, 86_400_000, BanPolicies.maxMs - 1, BanPolicies.maxMs]
  return plans.flatMap((plan, index) =>
    starts.flatMap((first) => {
      const moves = offsets.map(
        (offsetMs): Move => ({
          key: `${index}:${first}`,
          plan,
          ban: index === 0 ? 0 : 1,
          origin: "clock",
          offsetMs,
          requests: 3,
          cost: first === 1 ? maxRequests : 1,
          intervalMs: 0
        })
      )
      return play(first, moves, [longest, { ...longest, strikes: 2 }])
    })
  )
}
