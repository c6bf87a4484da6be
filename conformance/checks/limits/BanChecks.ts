/** Laws about bans of keys that ignore a 429 (contract §8.4.3, which leaves every number open). */
import * as Effect from "effect/Effect"
import type { Reading } from "../../evaluation/Meter.ts"
import { expect, undecided, Violation } from "../../evaluation/Outcome.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import * as Conversation from "../../subjects/Conversation.ts"
import { type Check, define, family } from "../Check.ts"
import * as Bursts from "./Bursts.ts"
import * as Offender from "./Offender.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Time in ms after the first strike within which strikes are counted together. */
const WITHIN_MS = 5 * MINUTE

/** Durations of consecutive bans in ms; the last one repeats. */
const DURATIONS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 60 * MINUTE]

/** The longest Retry-After, in seconds, that a law waits for. */
const MAX_WAIT_S = 31 * 86_400

/**
 * The longest Retry-After, in seconds, of a denial by the per-minute limit; a longer one means a ban or the daily
 * limit.
 */
const MAX_MINUTE_WAIT_S = 70

/** Maximum numbers of denials and of requests that a law causes to get a key banned. */
const [MAX_DENIALS, MAX_REQUESTS] = [45, 150]

const list = { path: "/pets?limit=1" } as const

const victim = family({ ...Offender.aboutVictim, examples: [null] })

export const checks: ReadonlyArray<Check> = [
  victim({
    id: "ban.ends",
    law: "A key that was denied or banned is eventually admitted again, whatever it did.",
    clauses: ["ban.temporary"],
    level: "spec",
    requests: 29,
    *holds(meter, _given, trial) {
      yield* Bursts.requireSmall(meter, Offender.MAX_PER_MINUTE)
      yield* Bursts.spendAfterRest(meter)
      let last = yield* Bursts.provokeDenial(meter)
      for (let denials = 0; denials < MAX_DENIALS; denials++) {
        yield* meter.advance(SECOND + 100)
        const before: Reading = last
        last = yield* meter.spend
        if (last.admitted) last = yield* Bursts.provokeDenial(meter)
        // A response need not reveal a ban; a longer wait may indicate one.
        if (
          last.banned === true ||
          last.retryAfter > MAX_MINUTE_WAIT_S ||
          last.retryAfter > before.retryAfter + 5
        ) {
          trial.saw("a probable ban")
          if (last.banned === true || last.retryAfter > MAX_MINUTE_WAIT_S) break
        }
      }
      for (let waits = 0; waits < 5 && !last.admitted; waits++) {
        if (last.retryAfter > MAX_WAIT_S) {
          return yield* undecided(`Retry-After is ${last.retryAfter} s, longer than the suite waits`)
        }
        yield* Bursts.waitForRetryAfter(meter, last)
        last = yield* meter.spend
      }
      yield* expect(
        last.admitted,
        "a request admitted after waiting for Retry-After",
        `429 five times, each time after waiting for Retry-After`
      )
    }
  }),
  define({
    id: "ban.spares-others",
    law: "While one key is banned, another key is admitted.",
    clauses: ["ban.only-that-key", "limits.remaining-truth"],
    level: "spec",
    profile: "ban",
    on: "http",
    needs: ["victimKey", "clock"],
    requests: 36,
    examples: [null],
    *holds(http) {
      const first = yield* http.sendUnpaced(list)
      const before = first.response.status === 200 ? RateHeaders.of(first.response) : undefined
      let sent = 1
      const expectAdmitted = Effect.gen(function* () {
        sent++
        // Pacing would wait until the ban is over.
        const { response } = yield* http.sendUnpaced(list)
        if (response.status === 200) return
        // Keys may share the limit of an address or an account (contract §8); a request with one of them then lowers
        // Remaining for both. If the headers always show the daily limit, they might not show the window that denied the
        // request.
        const isOfShown = response.status !== 429 || RateHeaders.of(response)?.remaining === 0
        if (before !== undefined && before.remaining >= sent && isOfShown) {
          const expected = `200 for another key, whose Remaining was ${before.remaining} before ${sent - 1} more requests`
          return yield* new Violation({ expected, actual: Conversation.outcome(response) })
        }
        // A shared per-minute limit admits again after two minutes.
        yield* http.advance(2 * MINUTE)
        const again = yield* http.sendUnpaced(list)
        const actual = Conversation.outcome(again.response)
        yield* expect(again.response.status === 200, "200 for a key that waited two minutes", actual)
      })
      for (let denials = 0; sent < MAX_REQUESTS && denials < MAX_DENIALS; sent++) {
        const exchange = yield* http.send({ ...list, key: "victim" })
        const { status } = exchange.response
        if (status === 403) break
        if (status !== 429) continue
        denials++
        const wait = RateHeaders.retryAfterSeconds(exchange) ?? 0
        if (wait > MAX_MINUTE_WAIT_S) break
        // A response need not reveal a ban, and a ban may be short.
        if (denials % 3 === 0) yield* expectAdmitted
        yield* http.advance(SECOND + 100)
      }
      yield* expectAdmitted
    }
  }),
  define({
    id: "ban.spares-others-at-once",
    law: "While one key is banned, other keys do not have to wait.",
    clauses: ["ban.only-that-key", "limits.counted-per-key"],
    level: "design",
    profile: "ban",
    on: "http",
    needs: ["victimKey", "clock"],
    requests: 29,
    mustSee: ["a ban"],
    examples: [null],
    *holds(http, _given, trial) {
      yield* http.advance(5 * DAY)
      for (let sent = 0; sent < 250; sent++) {
        const { response } = yield* http.send({ ...list, key: "victim" })
        if (ErrorBody.codeOf(response) === "api_key_banned") {
          trial.saw("a ban")
          break
        }
        if (response.status === 429) yield* http.advance(Offender.APART_MS)
      }
      const { response } = yield* http.sendUnpaced(list)
      yield* expect(response.status === 200, "200 for another key", Conversation.outcome(response))
    }
  }),
  victim({
    id: "ban.at-strike-20",
    law: "The 20th denial without a free slot, counted at most once a second, bans the key; no earlier denial does.",
    clauses: ["ban.rules", "ban.strike", "ban.first-429"],
    requests: 104,
    examples: [1_500, 2_500, 10_000],
    *holds(meter, apartMs) {
      yield* Offender.waitForCleanSlate(meter)
      yield* Offender.expectBanAtLastStrike(yield* Offender.hammer(meter, Offender.STRIKES + 2, apartMs))
    }
  }),
  victim({
    id: "ban.answer",
    law:
      "Responses during a ban show the per-minute Limit, Remaining 0, a Reset at the end of the ban, " +
      "and the remaining time in Retry-After.",
    clauses: ["ban.answer", "ban.headers", "ban.retry-after"],
    requests: 29,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      const ban = yield* Offender.getBanned(meter)
      yield* meter.advance(7_000)
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
        later.resetAt * SECOND - later.decidedBetween[1],
        later.resetAt * SECOND - later.decidedBetween[0]
      ] as const
      yield* expect(
        later.retryAfter >= Offender.seconds(left[0] - SECOND) &&
          later.retryAfter <= Offender.seconds(left[1]),
        `Retry-After of ${Offender.seconds(left[1])} s, the rest of the ban`,
        `${later.retryAfter} s`
      )
    }
  }),
  victim({
    id: "ban.lasts",
    law: "A ban lasts until its Retry-After has passed, and no longer.",
    clauses: ["ban.retry-after", "ban.temporary"],
    requests: 30,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      const { retryAfter } = yield* Offender.getBanned(meter)
      const early = (retryAfter - 1) * SECOND - 200
      yield* meter.advance(early)
      const during = yield* meter.spend
      yield* expect(
        !during.admitted && during.banned === true,
        `a ban of ${retryAfter} s to last at least ${early} ms`,
        during.admitted ? "a request admitted" : "429 without a ban"
      )
      yield* meter.advance(retryAfter * SECOND - early)
      const after = yield* meter.spend
      yield* expect(after.admitted, `a request admitted after a ban of ${retryAfter} s`, "429")
    }
  }),
  victim({
    id: "ban.unmoved",
    law: "Requests during a ban neither extend it nor count toward the next one.",
    clauses: ["ban.unchanged-by-requests"],
    requests: 85,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      const { resetAt, retryAfter } = yield* Offender.getBanned(meter)
      let passed = 0
      while (passed + 2_000 < (retryAfter - 1) * SECOND) {
        yield* meter.advance(2_000)
        passed += 2_000
        const during = yield* meter.spend
        yield* expect(
          !during.admitted && during.resetAt === resetAt,
          `a ban that still ends at ${resetAt}`,
          during.admitted ? "a request admitted" : `an end at ${during.resetAt}`
        )
      }
      yield* meter.advance(retryAfter * SECOND - passed)
      const after = yield* meter.spend
      yield* expect(after.admitted, "a request admitted at the end of the ban", "429 after its end")
      yield* Offender.expectDuration(yield* Offender.getBanned(meter), DURATIONS_MS[1] ?? 0)
    }
  }),
  victim({
    id: "ban.levels",
    law: "Consecutive bans last 1, 5, 15, 60 and 60 minutes.",
    clauses: ["ban.levels"],
    requests: 140,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      for (const duration of DURATIONS_MS) {
        const ban = yield* Offender.getBanned(meter)
        yield* Offender.expectDuration(ban, duration)
        yield* meter.advance(ban.retryAfter * SECOND)
      }
    }
  }),
  victim({
    id: "ban.clean-days",
    law: "Every full 24 hours without a strike or ban shortens the next ban by one step.",
    clauses: ["ban.clean-day"],
    requests: 140,
    // Pauses after the end of a ban, and the step of the next ban; each ban is one step longer without a clean day.
    examples: [
      [
        { cleanMs: 0, step: 0 },
        { cleanMs: 0, step: 1 },
        { cleanMs: DAY - MINUTE, step: 2 },
        { cleanMs: DAY + MINUTE, step: 2 },
        { cleanMs: 2 * DAY + MINUTE, step: 1 }
      ]
    ],
    *holds(meter, pauses) {
      yield* Offender.waitForCleanSlate(meter)
      for (const { cleanMs, step } of pauses) {
        yield* meter.advance(cleanMs)
        const ban = yield* Offender.getBanned(meter)
        yield* Offender.expectDuration(ban, DURATIONS_MS[step] ?? 0)
        yield* meter.advance(ban.retryAfter * SECOND)
      }
    }
  }),
  victim({
    id: "ban.one-a-second",
    law: "A burst of denials within a second is at most one strike.",
    clauses: ["ban.strike-interval"],
    requests: 80,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      yield* Bursts.provokeDenial(meter)
      for (const reading of yield* meter.spendConcurrently(2 * Offender.STRIKES)) {
        yield* expect(
          reading.banned !== true,
          `no ban for ${2 * Offender.STRIKES} concurrent requests`,
          "a ban"
        )
      }
      // Three rounds make one strike, so 30 rounds make about half of the strikes that lead to a ban.
      yield* meter.advance(WITHIN_MS + MINUTE)
      const { ban, rounds } = yield* Offender.hammer(meter, 30, 400)
      yield* expect(ban === undefined, "no ban for 30 denials within 12 s", `a ban after ${rounds}`)
    }
  }),
  victim({
    id: "ban.strikes-expire",
    law: "A new count begins five minutes after the first strike.",
    clauses: ["ban.strikes-expire", "ban.rules"],
    requests: 55,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      const first = yield* Offender.hammer(meter, Offender.STRIKES - 1)
      yield* expect(first.ban === undefined, `no ban after ${Offender.STRIKES - 1} strikes`, "a ban")
      // The first strike is then five minutes and a second ago.
      yield* meter.advance(WITHIN_MS + SECOND - (Offender.STRIKES - 2) * Offender.APART_MS)
      yield* Offender.expectBanAtLastStrike(
        yield* Offender.hammer(meter, Offender.STRIKES + 2),
        " of the new count"
      )
    }
  }),
  victim({
    id: "ban.strikes-together",
    law: "Strikes within five minutes of the first are counted together, however far apart they are.",
    clauses: ["ban.rules"],
    requests: 56,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      yield* Offender.expectBanAtLastStrike(
        yield* Offender.hammer(meter, Offender.STRIKES + 2, 15_500),
        ", 295 s after the first"
      )
    }
  })
]
