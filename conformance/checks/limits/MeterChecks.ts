/** Laws about limits that apply to every implementation, whatever its algorithm (contract §8). */
import * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { expect, postponed, undecided, Violation } from "../../evaluation/Outcome.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { text } from "../../http/Wire.ts"
import { type Check, define, family } from "../Check.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Timeout in ms of an evaluation that waits for one or two windows in real time, without a clock. */
const WAITS_MS = 240_000

/** Maximum Retry-After in seconds: a day, and an hour of tolerance for rounding and slow clocks. */
const MAX_RETRY_AFTER_S = 86_400 + 3_600

/** The longest Retry-After, in seconds, that a law waits for. */
const MAX_WAIT_S = 3 * 86_400

/** Waits until the small key has a new day and no ban, if time can be moved; otherwise does nothing. */
const waitForFreshDay = (http: Http) => (http.facts.hasClock ? http.advance(2 * DAY) : Effect.void)

const draftOf = ({ facts }: Http, name: string): string => {
  const [categoryId = 1n] = facts.categories === "any" ? [1n] : facts.categories
  return PetJson.draft({ name, categoryId, status: "pending" })
}

/** Whether the headers show that all responses belong to one minute, and that the daily limit denied no request. */
const isOneMinute = (meter: Meter, readings: ReadonlyArray<Reading>): boolean => {
  const resets = readings.map(({ resetAt }) => resetAt)
  return (
    readings.every(
      (reading) =>
        Bursts.showsMinute(meter, reading) && (reading.admitted || reading.retryAfter <= MINUTE / SECOND)
    ) && Math.max(...resets) - Math.min(...resets) < 30
  )
}

const operations = ["listPets", "createPet", "getPet"] as const

const tiny = family({ level: "spec", profile: "limits", on: "meter", needs: ["tinyPlan"], examples: [null] })
const withClock = family({
  level: "spec",
  profile: "limits",
  on: "meter",
  needs: ["tinyPlan", "clock"],
  examples: [null]
})
const overHttp = family({ level: "spec", profile: "limits", on: "http", needs: ["tinyPlan"] })

export const checks: ReadonlyArray<Check> = [
  tiny({
    id: "limits.exhausted",
    law: "A client that sends without a pause gets 429 before more requests than twice its per-minute limit are admitted.",
    clauses: ["limits.per-minute", "limits.exceeded-429"],
    requests: 6,
    *holds(meter) {
      yield* Bursts.requireSmall(meter)
      const first = yield* meter.spend
      if (!first.admitted) return
      const max = Bursts.maxInBurst(meter)
      for (let sent = 1; ; sent++) {
        const reading = yield* meter.spend
        if (!reading.admitted) return
        const allowed = max + Bursts.refilled(meter, Bursts.span(first, reading))
        yield* expect(
          sent < allowed,
          `429 after at most ${allowed} requests without a pause`,
          `${sent + 1} admitted on a plan of ${meter.plan.perMinute} per minute`
        )
      }
    }
  }),
  tiny({
    id: "limits.promise",
    law: "A caller that sends nothing until Retry-After has passed is admitted.",
    clauses: ["limits.retry-after-promise"],
    requests: 6,
    timeoutMs: WAITS_MS,
    examples: [{ denials: 1 }, { denials: 2 }],
    *holds(meter, { denials }) {
      if (denials > 1 && !meter.hasClock) return yield* undecided("a second wait needs a clock (--clock)")
      let last = yield* Bursts.provokeDenial(meter)
      for (let more = 1; more < denials; more++) last = yield* meter.spend
      if (last.admitted) return
      if (last.retryAfter > MAX_WAIT_S) {
        return yield* undecided(`Retry-After is ${last.retryAfter} s, longer than the suite waits`)
      }
      yield* Bursts.waitForRetryAfter(meter, last)
      const after = yield* meter.spend
      yield* expect(
        after.admitted,
        "a request admitted after the time in Retry-After",
        `429 after waiting the ${last.retryAfter} s of Retry-After, with ${after.retryAfter} s more to wait`
      )
    }
  }),
  tiny({
    id: "limits.remaining-kept",
    law: "The per-minute limit does not deny a request while Remaining is one or more.",
    clauses: ["limits.remaining-truth"],
    requests: 6,
    timeoutMs: WAITS_MS,
    *holds(meter) {
      yield* Bursts.requireSmall(meter)
      if (meter.hasClock) yield* Bursts.spendAfterRest(meter)
      const readings = yield* Bursts.spendUntilDenied(meter, Bursts.maxInBurst(meter))
      for (const [index, reading] of readings.entries()) {
        const next = readings[index + 1]
        if (next === undefined || next.admitted || !Bursts.showsMinute(meter, reading)) continue
        // Without a clock, earlier checks may have used up the day.
        const isOfMinute = meter.hasClock || next.retryAfter <= 2 * 60
        yield* expect(
          reading.remaining === 0 || !isOfMinute,
          `Remaining 0 before a denial`,
          `Remaining ${reading.remaining}, and the next request denied`
        )
      }
    }
  }),
  tiny({
    id: "limits.plan-shown",
    law: "Limit is the per-minute or the daily limit of the key's plan.",
    clauses: ["limits.plan-in-force"],
    requests: 6,
    *holds(meter) {
      yield* Bursts.requireSmall(meter)
      if (meter.hasClock) yield* Bursts.rest(meter)
      const { perDay, perMinute } = meter.plan
      for (const { admitted, limit } of yield* Bursts.spendUntilDenied(meter, Bursts.maxInBurst(meter))) {
        yield* expect(
          limit === perMinute || limit === perDay,
          `Limit ${perMinute} or ${perDay}, the plan of the key`,
          `Limit ${limit}${admitted ? "" : " with a 429"}`
        )
      }
    }
  }),
  define({
    id: "limits.at-once",
    law: "When too many requests are concurrent, exactly as many are admitted as the per-minute limit has left.",
    clauses: ["limits.atomic", "limits.no-early-429"],
    level: "spec",
    profile: "limits",
    on: "meter",
    needs: ["tinyPlan", "parallel"],
    requests: 8,
    timeoutMs: WAITS_MS,
    examples: [null],
    holds: (meter) => {
      const attempt = Effect.gen(function* () {
        yield* Bursts.requireSmall(meter)
        const { perMinute } = meter.plan
        yield* Bursts.rest(meter)
        let readings = yield* meter.spendConcurrently(perMinute + 3)
        const [first] = readings
        if (first !== undefined && readings.every(({ admitted }) => !admitted)) {
          // Another law caused a ban.
          yield* Bursts.waitForRetryAfter(meter, first)
          yield* Bursts.rest(meter)
          readings = yield* meter.spendConcurrently(perMinute + 3)
        }
        const admitted = readings.filter((reading) => reading.admitted).length
        const from = Math.min(...readings.map(({ decidedBetween }) => decidedBetween[0]))
        const to = Math.max(...readings.map(({ decidedBetween }) => decidedBetween[1]))
        const max = perMinute + Math.floor(((to - from) * perMinute) / MINUTE)
        // The denied requests may have caused a ban, which must not affect the next law.
        const wait = Math.max(...readings.map(({ retryAfter }) => retryAfter))
        if (meter.hasClock) yield* meter.advance(Math.min(wait, MAX_WAIT_S) * SECOND)
        if (admitted >= perMinute && admitted <= max) return undefined
        const violation = new Violation({
          expected: `${perMinute} of ${perMinute + 3} concurrent requests admitted`,
          actual: `${admitted} admitted`
        })
        // A second attempt would hide two requests that are only sometimes counted as one.
        if (isOneMinute(meter, readings)) return yield* violation
        return violation
      })
      // A minute may end during one attempt, but is unlikely to end during both.
      return Effect.flatMap(attempt, (first) =>
        first === undefined ? Effect.void : Effect.flatMap(attempt, (again) => again ?? Effect.void)
      )
    }
  }),
  overHttp({
    id: "limits.every-operation",
    law: "Each of the three operations denies a request over the limit with 429.",
    clauses: ["limits.every-operation"],
    requests: 24,
    examples: operations,
    *holds(http, operation, trial) {
      yield* waitForFreshDay(http)
      if (operation === "getPet" && (yield* http.now) >= REMOVAL_BEGINS) {
        return yield* postponed("by the server's date, getPet is removed or soon will be")
      }
      yield* Bursts.useUpTiny(http)
      const requests = {
        listPets: { path: "/pets", key: "tiny" },
        createPet: { method: "POST", path: "/pets", key: "tiny", json: draftOf(http, trial.name()) },
        getPet: { path: "/pets/1", key: "tiny" }
      } as const satisfies { readonly [name: string]: Sent }
      const { response } = yield* http.send(requests[operation])
      if (response.status === 403) return yield* undecided("the key is already banned")
      const isAdmittedAgain = (yield* http.send(Bursts.tinyList)).response.status !== 429
      if (isAdmittedAgain && response.status !== 429)
        return yield* undecided("the window ended during the case")
      yield* waitForFreshDay(http)
      yield* expect(response.status === 429, `429 to ${operation} over the limit`, String(response.status))
    }
  }),
  overHttp({
    id: "limits.refused-stores-nothing",
    law: "A creation that is denied with 429 adds no animal.",
    clauses: ["limits.refused-unstored"],
    requests: 8,
    examples: [null],
    *holds(http, _given, trial) {
      yield* waitForFreshDay(http)
      yield* Bursts.useUpTiny(http)
      const name = trial.name()
      const creation = { method: "POST", path: "/pets", key: "tiny", json: draftOf(http, name) } as const
      const { response } = yield* http.send(creation)
      if (response.status !== 429) return yield* undecided("the creation was not denied")
      yield* waitForFreshDay(http)
      // A full list may omit an existing animal, but must not show one that does not exist.
      const { response: list } = yield* http.send({ path: "/pets?limit=100&status=pending" })
      yield* expect(
        !text(list.body).includes(JSON.stringify(name)),
        "no animal of a creation that was denied with 429",
        "the animal in the next list"
      )
    }
  }),
  withClock({
    id: "limits.whole-minute",
    law: "After whole windows without requests, a caller gets the full number of requests per minute.",
    clauses: ["limits.no-early-429", "limits.per-minute"],
    requests: 42,
    examples: [
      { silentMs: 0 },
      { silentMs: 2 * MINUTE + SECOND },
      { silentMs: 60 * MINUTE },
      { silentMs: 3 * DAY }
    ],
    holds: (meter, { silentMs }) => {
      const { perMinute } = meter.plan
      const burst = Effect.fnUntraced(function* (first: Reading, silence: string) {
        const readings = [
          first,
          ...(first.admitted ? yield* Bursts.spendUntilDenied(meter, 2 * perMinute) : [])
        ]
        const last = readings.at(-1) ?? first
        const admitted = readings.filter((reading) => reading.admitted).length
        const max = Bursts.maxInBurst(meter) + Bursts.refilled(meter, Bursts.span(first, last))
        yield* expect(
          admitted >= perMinute && admitted <= max,
          `from ${perMinute} to ${max} requests admitted after ${silence} of silence`,
          `${admitted} admitted`
        )
        return last
      })
      const attempt = Effect.gen(function* () {
        yield* Bursts.requireSmall(meter)
        const { retryAfter } = yield* burst(yield* Bursts.spendAfterRest(meter), "minutes")
        if (silentMs === 0) return
        yield* meter.advance(Math.max(silentMs, retryAfter * SECOND))
        yield* burst(yield* meter.spend, `${silentMs / SECOND} s`)
      })
      return Bursts.tryThrice(attempt)
    }
  }),
  withClock({
    id: "limits.remaining-bound",
    law: "No more requests are admitted than Remaining showed, plus those that were refilled since then.",
    clauses: ["limits.remaining-bound"],
    requests: 6,
    holds: (meter) => {
      const attempt = Effect.gen(function* () {
        yield* Bursts.requireSmall(meter)
        const first = yield* Bursts.spendAfterRest(meter)
        const readings = [first, ...(yield* Bursts.spendUntilDenied(meter, 2 * meter.plan.perMinute))]
        for (const [index, reading] of readings.entries()) {
          if (!reading.admitted || !Bursts.showsMinute(meter, reading)) continue
          const later = readings.slice(index + 1).filter(({ admitted }) => admitted)
          // The bucket was full at the start; since then it has regained this number of whole requests.
          const regained = Math.floor(
            (Bursts.span(first, later.at(-1) ?? reading) * meter.plan.perMinute) / MINUTE
          )
          yield* expect(
            later.length <= reading.remaining + regained,
            `at most ${reading.remaining + regained} more requests admitted after Remaining ${reading.remaining}`,
            `${later.length} admitted`
          )
        }
      })
      return Bursts.tryThrice(attempt)
    }
  }),
  withClock({
    id: "limits.reset-kept",
    law: "A caller that is denied only by the window shown is admitted at the Reset of that window.",
    clauses: ["limits.reset-truth"],
    requests: 7,
    *holds(meter) {
      yield* Bursts.spendAfterRest(meter)
      const denied = yield* Bursts.provokeDenial(meter)
      if (!Bursts.showsMinute(meter, denied)) return
      const wait = denied.resetAt * SECOND - (yield* meter.now)
      if (wait > 2 * DAY) return yield* undecided("Reset is days ahead")
      // A second more, because the rounding of Reset is not defined.
      yield* meter.advance(Math.max(wait, 0) + SECOND)
      const after = yield* meter.spend
      yield* expect(after.admitted, "a request admitted at the time of Reset", "429 a second after it")
    }
  }),
  withClock({
    id: "limits.first-wait",
    law: "Retry-After of the first denial is at most a day, the longest window.",
    clauses: ["limits.retry-after-promise", "limits.no-early-429"],
    requests: 6,
    *holds(meter) {
      yield* Bursts.spendAfterRest(meter)
      const { retryAfter } = yield* Bursts.provokeDenial(meter)
      yield* expect(retryAfter <= MAX_RETRY_AFTER_S, "Retry-After of at most a day", `${retryAfter} s`)
    }
  }),
  withClock({
    id: "limits.day",
    law: "A client within its per-minute limit is denied when the daily limit is reached, not before, for at most a day.",
    clauses: ["limits.per-day", "limits.no-early-429", "limits.retry-after-promise"],
    requests: 43,
    *holds(meter) {
      yield* Bursts.requireSmall(meter)
      yield* Bursts.requireSmallDay(meter)
      const { perDay, perMinute } = meter.plan
      yield* Bursts.spendAfterRest(meter)
      yield* meter.advance(2 * DAY)
      for (let sent = 0; sent <= 2 * perDay; sent++) {
        if (sent > 0 && sent % perMinute === 0) yield* meter.advance(2 * MINUTE + SECOND)
        const reading = yield* meter.spend
        if (reading.admitted) continue
        yield* expect(
          sent >= perDay,
          `no 429 before ${perDay} requests, at ${perMinute} in two minutes`,
          `429 after ${sent}`
        )
        yield* expect(
          reading.retryAfter <= MAX_RETRY_AFTER_S,
          "Retry-After of at most a day",
          `${reading.retryAfter} s`
        )
        yield* Bursts.waitForRetryAfter(meter, reading)
        const after = yield* meter.spend
        return yield* expect(
          after.admitted,
          "a request admitted after the time in Retry-After",
          `429 after waiting the ${reading.retryAfter} s of Retry-After, with the daily limit used up`
        )
      }
      yield* expect(
        false,
        `429 once the ${perDay} requests of a day are used up`,
        `${2 * perDay + 1} requests admitted`
      )
    }
  })
]
