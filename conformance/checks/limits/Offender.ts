/** Clients that go on after a 429, for laws about bans (contract §8.4.3, which leaves every number open). */
import * as Effect from "effect/Effect"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { expect, type Failure, Violation } from "../../evaluation/Outcome.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Strikes that lead to a ban. */
export const STRIKES = 20

/** Ms between two rounds of requests: more than the second in which at most one strike counts. */
export const APART_MS = 1_500

/** Largest plan per minute whose bucket can be emptied often enough. */
export const MOST_PER_MINUTE = 10

/** What the laws about bans of a key share. */
export const aboutVictim = {
  level: "design",
  profile: "ban",
  on: "victim",
  needs: ["victimKey", "clock"],
  requests: 60
} as const

/** Uses up a whole day, request by request. */
export const useUpDay = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  yield* Bursts.small(meter, MOST_PER_MINUTE)
  yield* Bursts.smallDay(meter)
  yield* meter.pass(DAY + MINUTE)
  for (let used = 0; used < meter.plan.perDay; used++) {
    if (used > 0 && used % meter.plan.perMinute === 0) yield* meter.pass(MINUTE)
    yield* meter.spend
  }
})

/** Lets so many days pass that no earlier strike or ban counts. */
export const cleanSlate = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  yield* Bursts.small(meter, MOST_PER_MINUTE)
  yield* meter.pass(5 * DAY)
})

/**
 * A client that never waits. It counts which of its denials were given a slot, as many as the bucket holds, and which came
 * when none was left: those are strikes.
 */
const makeOffender = (meter: Meter) => {
  const { perMinute } = meter.plan
  const most = Bursts.mostInBurst(meter) + perMinute
  let slots = 0
  const spend = Effect.map(meter.spend, (reading) => {
    const isStrike = !reading.admitted && slots === perMinute
    if (!isStrike) slots = reading.admitted ? Math.max(slots - 1, 0) : slots + 1
    return { isStrike, reading }
  })
  const until = (isEnough: (sent: { readonly isStrike: boolean }) => boolean) =>
    Effect.gen(function* () {
      for (let count = 0; count <= most; count++) {
        const sent = yield* spend
        if (sent.reading.banned === true || isEnough(sent)) return sent.reading
      }
      const actual = `${most + 1} requests without that`
      return yield* new Violation({ expected: `${perMinute} denials after ${perMinute} requests`, actual })
    })
  return {
    /** Uses up the bucket and takes all slots, which is no strike. */
    begin: until(() => slots === perMinute),
    /** Exactly one strike: the ban if it led to one. */
    round: Effect.andThen(
      meter.now,
      until(({ isStrike }) => isStrike)
    )
  }
}

/** The outcome of a number of rounds. */
export interface Hammered {
  /** Rounds before the one that led to the ban, or all of them. */
  readonly rounds: number
  readonly ban: Reading | undefined
}

/** Strikes again and again until it is banned, at most so many times. */
export const hammer = Effect.fnUntraced(function* (
  meter: Meter,
  most: number,
  apartMs: number = APART_MS
): Effect.fn.Return<Hammered, Failure> {
  const { begin, round } = makeOffender(meter)
  const first = yield* begin
  if (first.banned === true) return { rounds: 0, ban: first }
  for (let rounds = 1; rounds <= most; rounds++) {
    yield* meter.pass(apartMs)
    const reading = yield* round
    if (reading.banned === true) return { rounds, ban: reading }
  }
  return { rounds: most, ban: undefined }
})

/** Gets the key banned as the rules say. */
export const getBanned = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
  const { ban } = yield* hammer(meter, STRIKES)
  return ban === undefined
    ? yield* new Violation({ expected: `a ban at strike ${STRIKES}`, actual: "denials without ban" })
    : ban
})

/** Fails unless the ban came at the strike that the rules say. */
export const bannedAtLastStrike = ({ ban, rounds }: Hammered, when = ""): Effect.Effect<void, Failure> =>
  expect(
    ban !== undefined && rounds === STRIKES,
    `a ban at strike ${STRIKES}${when}`,
    ban === undefined ? `no ban after ${rounds} strikes` : `a ban at strike ${rounds}`
  )

/** Fails when a denial is a ban. */
export const notBanned = ({ banned }: Reading, after: string): Effect.Effect<void, Failure> =>
  expect(banned !== true, "429 for the limit alone", `a ban ${after}`)

/** Whole seconds that `Retry-After` may show for a wait of so many ms. */
export const seconds = (ms: number): number => Math.ceil(ms / SECOND)

/** Fails unless a ban has just begun that lasts so long. */
export const lasts = (ban: Reading, ms: number): Effect.Effect<void, Failure> =>
  expect(
    ban.resetAt >= seconds(ban.between[0] + ms) && ban.resetAt <= seconds(ban.between[1] + ms),
    `a ban of ${ms / MINUTE} min`,
    `one of about ${Math.round((ban.resetAt * SECOND - ban.between[0]) / SECOND)} s`
  )
