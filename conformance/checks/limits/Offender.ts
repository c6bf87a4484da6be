/** Simulates clients that ignore a 429, for laws about bans; contract §8.4.3 leaves all numbers open. */
import * as Effect from "effect/Effect"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { expect, type Failure, Violation } from "../../evaluation/Outcome.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Number of strikes that lead to a ban. */
export const STRIKES = 20

/** Interval in ms between two rounds of requests: more than the second in which at most one strike counts. */
export const APART_MS = 1_500

/** Maximum per-minute limit of a plan whose bucket can be emptied often enough. */
export const MAX_PER_MINUTE = 10

/** Fields that all checks about bans of a key have in common. */
export const aboutVictim = {
  level: "design",
  profile: "ban",
  on: "victim",
  needs: ["victimKey", "clock"],
  requests: 60
} as const

/** Uses up the daily limit. */
export const useUpDay = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  yield* Bursts.requireSmall(meter, MAX_PER_MINUTE)
  yield* Bursts.requireSmallDay(meter)
  yield* meter.advance(DAY + MINUTE)
  for (let used = 0; used < meter.plan.perDay; used++) {
    if (used > 0 && used % meter.plan.perMinute === 0) yield* meter.advance(MINUTE)
    yield* meter.spend
  }
})

/** Waits five days, after which no earlier strike or ban counts; `Undecided` if the plan is too large. */
export const waitForCleanSlate = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  yield* Bursts.requireSmall(meter, MAX_PER_MINUTE)
  yield* meter.advance(5 * DAY)
})

/**
 * Creates a client that never waits and counts its denials. The first `perMinute` denials get a slot each; a denial
 * without a free slot is a strike.
 */
const makeOffender = (meter: Meter) => {
  const { perMinute } = meter.plan
  const max = Bursts.maxInBurst(meter) + perMinute
  let slots = 0
  const spend = Effect.map(meter.spend, (reading) => {
    const isStrike = !reading.admitted && slots === perMinute
    if (!isStrike) slots = reading.admitted ? Math.max(slots - 1, 0) : slots + 1
    return { isStrike, reading }
  })
  const until = (isEnough: (sent: { readonly isStrike: boolean }) => boolean) =>
    Effect.gen(function* () {
      for (let count = 0; count <= max; count++) {
        const sent = yield* spend
        if (sent.reading.banned === true || isEnough(sent)) return sent.reading
      }
      const actual = `${max + 1} requests without them`
      return yield* new Violation({ expected: `${perMinute} denials after ${perMinute} requests`, actual })
    })
  return {
    /** Uses up the bucket and takes all slots, without a strike; ends early at a ban. */
    begin: until(() => slots === perMinute),
    /** Causes exactly one strike; returns the ban if there is one. */
    round: Effect.andThen(
      meter.now,
      until(({ isStrike }) => isStrike)
    )
  }
}

/** The result of `hammer`. */
export interface Hammered {
  /** Number of rounds up to the ban, or of all rounds without a ban. */
  readonly rounds: number
  readonly ban: Reading | undefined
}

/** Causes at most `maxStrikes` strikes, `apartMs` ms apart, until the key is banned. */
export const hammer = Effect.fnUntraced(function* (
  meter: Meter,
  maxStrikes: number,
  apartMs: number = APART_MS
): Effect.fn.Return<Hammered, Failure> {
  const { begin, round } = makeOffender(meter)
  const first = yield* begin
  if (first.banned === true) return { rounds: 0, ban: first }
  for (let rounds = 1; rounds <= maxStrikes; rounds++) {
    yield* meter.advance(apartMs)
    const reading = yield* round
    if (reading.banned === true) return { rounds, ban: reading }
  }
  return { rounds: maxStrikes, ban: undefined }
})

/** Causes a ban with `STRIKES` strikes; fails with a `Violation` if the key is not banned. */
export const getBanned = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
  const { ban } = yield* hammer(meter, STRIKES)
  return ban === undefined
    ? yield* new Violation({ expected: `a ban at strike ${STRIKES}`, actual: "denials without a ban" })
    : ban
})

/** Fails unless the ban came exactly at strike `STRIKES`. */
export const expectBanAtLastStrike = ({ ban, rounds }: Hammered, when = ""): Effect.Effect<void, Failure> =>
  expect(
    ban !== undefined && rounds === STRIKES,
    `a ban at strike ${STRIKES}${when}`,
    ban === undefined ? `no ban after ${rounds} strikes` : `a ban at strike ${rounds}`
  )

/** Fails if a denial is a ban. */
export const expectNotBanned = ({ banned }: Reading, after: string): Effect.Effect<void, Failure> =>
  expect(banned !== true, "429 only for the limit", `a ban ${after}`)

/** Returns the whole seconds in `Retry-After` for a wait of `ms` milliseconds. */
export const seconds = (ms: number): number => Math.ceil(ms / SECOND)

/** Fails unless a ban that has just started lasts `ms` milliseconds, according to its Reset. */
export const expectDuration = (ban: Reading, ms: number): Effect.Effect<void, Failure> =>
  expect(
    ban.resetAt >= seconds(ban.decidedBetween[0] + ms) && ban.resetAt <= seconds(ban.decidedBetween[1] + ms),
    `a ban of ${ms / MINUTE} min`,
    `a ban of about ${Math.round((ban.resetAt * SECOND - ban.decidedBetween[0]) / SECOND)} s`
  )
