/** Laws about clients that wait for Retry-After and must never be banned (contract §8.4.3). */
import * as fc from "fast-check"
import type { Reading } from "../../evaluation/Meter.ts"
import { expect, undecided } from "../../evaluation/Outcome.ts"
import { type Check, family } from "../Check.ts"
import * as Bursts from "./Bursts.ts"
import * as Offender from "./Offender.ts"

const { MINUTE, SECOND } = Bursts

/** The longest wait of impatient clients, in seconds. */
const CAPPED_WAIT_S = 30

const victim = family({ ...Offender.aboutVictim, examples: [null] })
const exhaustedDay = family({ level: "design", profile: "ban", on: "meter", needs: ["tinyPlan", "clock"] })

export const checks: ReadonlyArray<Check> = [
  victim({
    id: "ban.polite-never",
    law: "A client that sends one request at a time and waits for Retry-After is never banned.",
    clauses: ["ban.polite-never", "ban.first-429"],
    requests: 82,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      for (let waits = 0; waits < 40; waits++) {
        const denial = yield* Bursts.provokeDenial(meter)
        yield* Offender.expectNotBanned(denial, `after ${waits} waits for Retry-After`)
        yield* meter.advance(denial.retryAfter * SECOND)
      }
    }
  }),
  victim({
    id: "ban.workers-never",
    law: "Clients that share a key and wait for Retry-After are never banned, if its bucket has a request for each.",
    clauses: ["ban.workers-never", "ban.first-429"],
    requests: 60,
    examples: [{ jitterMs: 450, workers: 1 }],
    cases: fc.record({ jitterMs: fc.nat(500), workers: fc.double({ min: 0, max: 1, noNaN: true }) }),
    runs: { port: 10, http: 0 },
    *holds(meter, { jitterMs, workers: share }) {
      yield* Offender.waitForCleanSlate(meter)
      const workers = Math.max(Math.floor(meter.plan.perMinute * share), 1)
      const begin = yield* meter.now
      const due: Array<number> = Array.from({ length: workers }, () => begin)
      for (let sent = 0; sent < 60; sent++) {
        const next = Math.min(...due)
        yield* meter.advance(Math.max(next - (yield* meter.now), 0))
        const reading = yield* meter.spend
        yield* Offender.expectNotBanned(reading, `after ${sent} requests`)
        const { admitted, decidedBetween, retryAfter } = reading
        const lateMs = (sent * 137) % (jitterMs + 1)
        due[due.indexOf(next)] = decidedBetween[1] + (admitted ? 1 : retryAfter * SECOND + lateMs)
      }
    }
  }),
  victim({
    id: "ban.slots",
    law: "Each of several denied requests gets its own Retry-After, and is admitted when sent again after it.",
    clauses: ["limits.slots"],
    requests: 9,
    *holds(meter) {
      yield* Offender.waitForCleanSlate(meter)
      const { perMinute } = meter.plan
      const max = Bursts.maxInBurst(meter) + Bursts.refilled(meter, MINUTE) + perMinute
      const denied: Array<Reading> = []
      for (let sent = 0; sent < 2 * perMinute || denied.length < perMinute; sent++) {
        if (sent > max) return yield* undecided(`only ${denied.length} of ${sent} requests were denied`)
        const reading = yield* meter.spend
        if (!reading.admitted) denied.push(reading)
      }
      for (const { decidedBetween, retryAfter } of denied) {
        yield* meter.advance(Math.max(decidedBetween[1] + retryAfter * SECOND - (yield* meter.now), 0))
        const again = yield* meter.spend
        const actual = `429 again, Retry-After ${again.retryAfter} s`
        yield* expect(
          again.admitted,
          `a request admitted after the ${retryAfter} s of its Retry-After`,
          actual
        )
      }
    }
  }),
  exhaustedDay({
    id: "ban.day-workers-never",
    law: "Eight clients that retry every 30 seconds after the daily limit is reached are never banned.",
    clauses: ["ban.day-workers-never"],
    requests: 120,
    examples: [{ apartMs: 1_000 }],
    cases: fc.record({ apartMs: fc.constantFrom(0, 999, 2_000, 3_750) }),
    runs: { port: 4, http: 0 },
    *holds(meter, { apartMs }) {
      const workers = 8
      yield* Offender.useUpDay(meter)
      for (let round = 0; round < 10; round++) {
        for (let worker = 0; worker < workers; worker++) {
          yield* Offender.expectNotBanned(yield* meter.spend, `in round ${round + 1}`)
          yield* meter.advance(
            worker < workers - 1 ? apartMs : CAPPED_WAIT_S * SECOND - (workers - 1) * apartMs
          )
        }
      }
    }
  }),
  exhaustedDay({
    id: "ban.capped-wait-never",
    law: "A client that sends one request at a time and waits at most 30 seconds is never banned.",
    clauses: ["ban.capped-wait-never"],
    requests: 80,
    mustSee: ["a wait longer than 30 s"],
    examples: [null],
    *holds(meter, _given, trial) {
      yield* Offender.useUpDay(meter)
      for (let waits = 0; waits < 40; waits++) {
        const reading = yield* meter.spend
        if (reading.retryAfter > CAPPED_WAIT_S) trial.saw("a wait longer than 30 s")
        yield* Offender.expectNotBanned(reading, `after ${waits} waits of 30 s`)
        if (!reading.admitted) yield* meter.advance(Math.min(reading.retryAfter, CAPPED_WAIT_S) * SECOND)
      }
    }
  })
]
