/** Bans of keys that go on after a 429 (contract §8.4.3, which leaves every number open). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { expect, type Failure, undecided, Violation } from "../../engine/Outcome.ts"
import * as Conversation from "../../http/Conversation.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { type Check, define } from "../Check.ts"
import type { Meter, Reading } from "../Meter.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Strikes that make a ban. */
const STRIKES = 20

/** Ms within which they count together. */
const WITHIN_MS = 5 * MINUTE

/** Ms between two rounds of hammering: more than the second in which one strike counts at most. */
const APART_MS = 1_500

/** Ms that the bans last, one after the other; the last one repeats. */
const DURATIONS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 60 * MINUTE]

/** Largest plan per minute whose bucket is empty often enough. */
const MOST_PER_MINUTE = 10

/** Longest ban that the suite waits for. */
const MOST_WAITED_S = 31 * 86_400

/** More seconds than a window of a minute asks to wait: a ban, or the end of the day. */
const BEYOND_MINUTE_S = 70

/** Uses up a whole day, request by request. */
const dayUsedUp = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  yield* Bursts.small(meter, MOST_PER_MINUTE)
  yield* Bursts.smallDay(meter)
  yield* meter.pass(DAY + MINUTE)
  for (let used = 0; used < meter.plan.perDay; used++) {
    if (used > 0 && used % meter.plan.perMinute === 0) yield* meter.pass(MINUTE)
    yield* meter.spend
  }
})

/** Lets so many days pass that no earlier offence counts any more. */
const forgiven = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  yield* Bursts.small(meter, MOST_PER_MINUTE)
  yield* meter.pass(5 * DAY)
})

/**
 * A client that never waits. It knows which of its refusals were told a slot, as many as the bucket holds, and which came
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
      return yield* new Violation({ expected: `${perMinute} refusals after ${perMinute} requests`, actual })
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

/** What a number of rounds came to. */
interface Hammered {
  /** Rounds before the one that led to the ban, or all of them. */
  readonly rounds: number
  readonly ban: Reading | undefined
}

/** Strikes again and again until it is banned, at most so many times. */
const hammer = Effect.fnUntraced(function* (
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
const banned = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
  const { ban } = yield* hammer(meter, STRIKES)
  return ban === undefined
    ? yield* new Violation({ expected: `a ban at strike ${STRIKES}`, actual: "refusals without ban" })
    : ban
})

/** Whole seconds that `Retry-After` may show for a wait of so many ms. */
const seconds = (ms: number): number => Math.ceil(ms / SECOND)

/** Fails unless a ban has just begun that lasts so long. */
const lasts = (ban: Reading, ms: number): Effect.Effect<void, Failure> =>
  expect(
    ban.resetAt >= seconds(ban.between[0] + ms) && ban.resetAt <= seconds(ban.between[1] + ms),
    `a ban of ${ms / MINUTE} min`,
    `one of about ${Math.round((ban.resetAt * SECOND - ban.between[0]) / SECOND)} s`
  )

const aboutVictim = {
  level: "design",
  profile: "ban",
  on: "victim",
  needs: ["victimKey", "clock"],
  requests: 60
} as const

export const checks: ReadonlyArray<Check> = [
  define({
    ...aboutVictim,
    id: "ban.ends",
    law: "A key that was refused or banned, whatever it did, is admitted again some time.",
    clauses: ["ban.temporary"],
    level: "spec",
    requests: 100,
    examples: [null],
    holds: (meter, _given, trial) =>
      Effect.gen(function* () {
        yield* Bursts.small(meter, MOST_PER_MINUTE)
        yield* Bursts.rested(meter)
        let last = yield* Bursts.refusal(meter)
        for (let sent = 0; sent < 45; sent++) {
          yield* meter.pass(SECOND + 100)
          const before: Reading = last
          last = yield* meter.spend
          if (last.admitted) last = yield* Bursts.refusal(meter)
          // Nobody has to say that it is a ban; a wait that has grown may be one.
          if (
            last.banned === true ||
            last.retryAfter > BEYOND_MINUTE_S ||
            last.retryAfter > before.retryAfter + 5
          ) {
            trial.saw("what looks like a ban")
            if (last.banned === true || last.retryAfter > BEYOND_MINUTE_S) break
          }
        }
        for (let waits = 0; waits < 5 && !last.admitted; waits++) {
          if (last.retryAfter > MOST_WAITED_S) {
            return yield* undecided(
              `Retry-After asks to wait ${last.retryAfter} s, more than the suite waits`
            )
          }
          yield* Bursts.waitAsTold(meter, last)
          last = yield* meter.spend
        }
        yield* expect(
          last.admitted,
          "a request admitted after waiting as told",
          `429 five times, each time after waiting as told`
        )
      })
  }),
  define({
    id: "ban.spares-others",
    law: "While one key is banned another is admitted.",
    clauses: ["ban.only-that-key"],
    level: "spec",
    profile: "ban",
    on: "http",
    needs: ["victimKey", "clock"],
    requests: 100,
    examples: [null],
    holds: (http) =>
      Effect.gen(function* () {
        for (let sent = 0, refusals = 0; sent < 120 && refusals < 45; sent++) {
          const { receivedAt, response } = yield* http.send({ path: "/pets?limit=1", key: "victim" })
          if (response.status === 403) break
          if (response.status !== 429) continue
          refusals++
          const wait = RateHeaders.retryAfterSeconds(response, receivedAt) ?? 0
          if (wait > BEYOND_MINUTE_S) break
          yield* http.pass(SECOND + 100)
        }
        // Keys may share an address's or an account's limit (contract §8): that is over within two minutes.
        const [first] = yield* http.sendAtOnce([{ path: "/pets?limit=1" }])
        if (first === undefined || first.response.status === 200) return
        yield* http.pass(2 * MINUTE)
        const [again] = yield* http.sendAtOnce([{ path: "/pets?limit=1" }])
        const actual = again === undefined ? "none" : Conversation.outcome(again.response)
        yield* expect(again?.response.status === 200, "200 to a key that waited two minutes", actual)
      })
  }),
  define({
    id: "ban.spares-others-at-once",
    law: "While one key is banned the others are not even made to wait.",
    clauses: ["ban.only-that-key", "limits.counted-per-key"],
    level: "design",
    profile: "ban",
    on: "http",
    needs: ["victimKey", "clock"],
    requests: 100,
    mustSee: ["a ban"],
    examples: [null],
    holds: (http, _given, trial) =>
      Effect.gen(function* () {
        yield* http.pass(5 * DAY)
        for (let sent = 0; sent < 250; sent++) {
          const { response } = yield* http.send({ path: "/pets?limit=1", key: "victim" })
          if (ErrorBody.codeOf(response) === "api_key_banned") {
            trial.saw("a ban")
            break
          }
          if (response.status === 429) yield* http.pass(APART_MS)
        }
        const [first] = yield* http.sendAtOnce([{ path: "/pets?limit=1" }])
        const actual = first === undefined ? "none" : Conversation.outcome(first.response)
        yield* expect(first?.response.status === 200, "200 to another key", actual)
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.at-strike-20",
    law: "The 20th refusal for which no slot is left, one a second at most, bans the key, none before.",
    clauses: ["ban.rules", "ban.strike", "ban.first-429"],
    examples: [1_500, 2_500, 10_000],
    holds: (meter, apartMs) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const { ban, rounds } = yield* hammer(meter, STRIKES + 2, apartMs)
        yield* expect(
          ban !== undefined && rounds === STRIKES,
          `a ban at strike ${STRIKES}`,
          ban === undefined ? `no ban after ${rounds} strikes` : `a ban at strike ${rounds}`
        )
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.answer",
    law: "A ban is told with the Limit per minute, Remaining 0, Reset at its end, and the Retry-After left.",
    clauses: ["ban.answer", "ban.headers", "ban.retry-after"],
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const ban = yield* banned(meter)
        yield* meter.pass(7_000)
        yield* meter.now
        const later = yield* meter.spend
        yield* expect(
          later.limit === meter.plan.perMinute && later.remaining === 0,
          `0 of ${meter.plan.perMinute} remaining during a ban`,
          `${later.remaining} of ${later.limit}`
        )
        yield* expect(
          later.resetAt === ban.resetAt,
          `Reset at the end of the ban, ${ban.resetAt}`,
          String(later.resetAt)
        )
        const left = [
          later.resetAt * SECOND - later.between[1],
          later.resetAt * SECOND - later.between[0]
        ] as const
        yield* expect(
          later.retryAfter >= seconds(left[0] - SECOND) && later.retryAfter <= seconds(left[1]),
          `Retry-After of the ${seconds(left[1])} s left`,
          `${later.retryAfter} s`
        )
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.lasts",
    law: "A ban lasts until its Retry-After has passed, and no longer.",
    clauses: ["ban.retry-after", "ban.temporary"],
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const { retryAfter } = yield* banned(meter)
        const early = (retryAfter - 1) * SECOND - 200
        yield* meter.pass(early)
        const during = yield* meter.spend
        yield* expect(
          !during.admitted && during.banned === true,
          `a ban of ${retryAfter} s to last ${early} ms at least`,
          during.admitted ? "a request admitted" : "429 without ban"
        )
        yield* meter.pass(retryAfter * SECOND - early)
        const after = yield* meter.spend
        yield* expect(after.admitted, `a request admitted after ${retryAfter} s of ban`, "429")
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.unmoved",
    law: "Requests during a ban neither prolong it nor lead to the next.",
    clauses: ["ban.unchanged-by-requests"],
    requests: 90,
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const { resetAt, retryAfter } = yield* banned(meter)
        let passed = 0
        while (passed + 2_000 < (retryAfter - 1) * SECOND) {
          yield* meter.pass(2_000)
          passed += 2_000
          const during = yield* meter.spend
          yield* expect(
            !during.admitted && during.resetAt === resetAt,
            `the ban to end at ${resetAt} still`,
            during.admitted ? "a request admitted" : `an end at ${during.resetAt}`
          )
        }
        yield* meter.pass(retryAfter * SECOND - passed)
        const after = yield* meter.spend
        yield* expect(after.admitted, "a request admitted at the end of the ban", "429 after its end")
        yield* lasts(yield* banned(meter), DURATIONS_MS[1] ?? 0)
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.levels",
    law: "One ban after the other lasts 1, 5, 15, 60 and 60 minutes.",
    clauses: ["ban.levels"],
    requests: 250,
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        for (const duration of DURATIONS_MS) {
          const ban = yield* banned(meter)
          yield* lasts(ban, duration)
          yield* meter.pass(ban.retryAfter * SECOND)
        }
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.clean-days",
    law: "Each 24 hours without strike or ban, and no less, make the next ban one step shorter.",
    clauses: ["ban.clean-day"],
    requests: 150,
    examples: [
      { cleanMs: DAY - MINUTE, step: 2 },
      { cleanMs: DAY + MINUTE, step: 1 },
      { cleanMs: 2 * DAY + MINUTE, step: 0 }
    ],
    holds: (meter, { cleanMs, step }) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        for (let bans = 0; bans < 2; bans++) {
          const ban = yield* banned(meter)
          yield* meter.pass(ban.retryAfter * SECOND)
        }
        yield* meter.pass(cleanMs)
        yield* lasts(yield* banned(meter), DURATIONS_MS[step] ?? 0)
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.one-a-second",
    law: "A burst of refusals within a second is one strike at most.",
    clauses: ["ban.strike-interval"],
    requests: 120,
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        yield* Bursts.refusal(meter)
        for (const reading of yield* meter.spendAtOnce(2 * STRIKES)) {
          yield* expect(reading.banned !== true, `no ban for ${2 * STRIKES} requests at once`, "a ban")
        }
        // Three rounds to a strike: hardly more than half of what bans.
        yield* meter.pass(WITHIN_MS + MINUTE)
        const { ban, rounds } = yield* hammer(meter, 30, 400)
        yield* expect(ban === undefined, "no ban for 30 refusals within 12 s", `a ban after ${rounds}`)
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.strikes-expire",
    law: "Five minutes after the first strike a new count begins.",
    clauses: ["ban.strikes-expire", "ban.rules"],
    requests: 120,
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const first = yield* hammer(meter, STRIKES - 1)
        yield* expect(first.ban === undefined, `no ban after ${STRIKES - 1} strikes`, "a ban")
        // From here to the first strike it is five minutes and a second.
        yield* meter.pass(WITHIN_MS + SECOND - (STRIKES - 2) * APART_MS)
        const { ban, rounds } = yield* hammer(meter, STRIKES + 2)
        yield* expect(
          ban !== undefined && rounds === STRIKES,
          `a ban at strike ${STRIKES} of the new count`,
          ban === undefined ? `no ban after ${rounds} strikes` : `a ban at strike ${rounds}`
        )
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.strikes-together",
    law: "Strikes within five minutes of the first count together, however slowly they come.",
    clauses: ["ban.rules"],
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const { ban, rounds } = yield* hammer(meter, STRIKES + 2, 15_500)
        yield* expect(
          ban !== undefined && rounds === STRIKES,
          `a ban at strike ${STRIKES}, 295 s after the first`,
          ban === undefined ? `no ban after ${rounds} strikes` : `a ban at strike ${rounds}`
        )
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.polite-never",
    law: "A client with one request at a time that waits for Retry-After is never banned.",
    clauses: ["ban.polite-never", "ban.first-429"],
    requests: 150,
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        for (let waits = 0; waits < 40; waits++) {
          const { banned: isBanned, retryAfter } = yield* Bursts.refusal(meter)
          yield* expect(isBanned !== true, "429 for the limit alone", `a ban after ${waits} waits as told`)
          yield* meter.pass(retryAfter * SECOND)
        }
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.workers-never",
    law: "Clients that share a key and wait for Retry-After, as many as its bucket holds, are never banned.",
    clauses: ["ban.workers-never", "ban.first-429"],
    requests: 60,
    examples: [{ jitterMs: 450, workers: 1 }],
    cases: fc.record({ jitterMs: fc.nat(500), workers: fc.double({ min: 0, max: 1, noNaN: true }) }),
    runs: { port: 10, http: 0 },
    holds: (meter, { jitterMs, workers: share }) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const workers = Math.max(Math.floor(meter.plan.perMinute * share), 1)
        const begin = yield* meter.now
        const due: Array<number> = Array.from({ length: workers }, () => begin)
        for (let sent = 0; sent < 60; sent++) {
          const next = Math.min(...due)
          yield* meter.pass(Math.max(next - (yield* meter.now), 0))
          const { admitted, banned: isBanned, between, retryAfter } = yield* meter.spend
          yield* expect(isBanned !== true, "429 for the limit alone", `a ban after ${sent} requests`)
          const late = (sent * 137) % (jitterMs + 1)
          due[due.indexOf(next)] = between[1] + (admitted ? 1 : retryAfter * SECOND + late)
        }
      })
  }),
  define({
    ...aboutVictim,
    id: "ban.slots",
    law: "Each of several refused requests is told a time of its own, at which it is admitted.",
    clauses: ["limits.slots"],
    requests: 30,
    examples: [null],
    holds: (meter) =>
      Effect.gen(function* () {
        yield* forgiven(meter)
        const { perMinute } = meter.plan
        const refused: Array<Reading> = []
        for (let sent = 0; sent < 2 * perMinute || refused.length < perMinute; sent++) {
          const reading = yield* meter.spend
          if (!reading.admitted) refused.push(reading)
        }
        for (const { between, retryAfter } of refused) {
          yield* meter.pass(Math.max(between[1] + retryAfter * SECOND - (yield* meter.now), 0))
          const again = yield* meter.spend
          const actual = `429 again, Retry-After ${again.retryAfter} s`
          yield* expect(again.admitted, `a request admitted after the ${retryAfter} s it was told`, actual)
        }
      })
  }),
  define({
    id: "ban.day-workers-never",
    law: "Eight clients that come back every 30 seconds while the day is used up are never banned.",
    clauses: ["ban.day-workers-never"],
    level: "design",
    profile: "ban",
    on: "meter",
    needs: ["tinyPlan", "clock"],
    requests: 120,
    examples: [{ apartMs: 1_000 }],
    cases: fc.record({ apartMs: fc.constantFrom(0, 999, 2_000, 3_750) }),
    runs: { port: 4, http: 0 },
    holds: (meter, { apartMs }) =>
      Effect.gen(function* () {
        const workers = 8
        yield* dayUsedUp(meter)
        for (let round = 0; round < 10; round++) {
          for (let worker = 0; worker < workers; worker++) {
            const { banned: isBanned } = yield* meter.spend
            yield* expect(isBanned !== true, "429 for the limit alone", `a ban in round ${round + 1}`)
            yield* meter.pass(worker < workers - 1 ? apartMs : 30 * SECOND - (workers - 1) * apartMs)
          }
        }
      })
  }),
  define({
    id: "ban.capped-wait-never",
    law: "A client with one request at a time that waits 30 seconds at most is never banned.",
    clauses: ["ban.capped-wait-never"],
    level: "design",
    profile: "ban",
    on: "meter",
    needs: ["tinyPlan", "clock"],
    requests: 100,
    mustSee: ["a wait longer than 30 s"],
    examples: [null],
    holds: (meter, _given, trial) =>
      Effect.gen(function* () {
        yield* dayUsedUp(meter)
        for (let waits = 0; waits < 40; waits++) {
          const { admitted, banned: isBanned, retryAfter } = yield* meter.spend
          if (retryAfter > 30) trial.saw("a wait longer than 30 s")
          yield* expect(isBanned !== true, "429 for the limit alone", `a ban after ${waits} waits of 30 s`)
          if (!admitted) yield* meter.pass(Math.min(retryAfter, 30) * SECOND)
        }
      })
  })
]
