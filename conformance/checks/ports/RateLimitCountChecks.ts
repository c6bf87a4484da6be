/** Laws of `RateLimitStore` about counting requests, which must give the same results as the core. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import { expect, type Failure, undecided, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { portCall } from "../../subjects/PortCall.ts"
import { type Check, family } from "../Check.ts"
import * as RateLimitHistory from "./RateLimitHistory.ts"
import * as States from "./States.ts"

type Limits = States.Limits

/** Describes a verdict for messages. */
const verdictText = ({ limit, outcome, remaining, resetAt, retryAfter }: RateLimit.Verdict): string =>
  `${outcome}, limit ${limit}, remaining ${remaining}, reset at ${resetAt}, retry after ${retryAfter}`

/** Counts a request with `modify` if `byModify`, otherwise as the service does: with `consume` if the store has it. */
const count = (
  limits: Limits,
  key: string,
  now: number,
  policy: RateLimit.Policy,
  byModify: boolean,
  trial: Trial
): Effect.Effect<RateLimit.Verdict, Violation> =>
  portCall(
    trial,
    `count a request of ${key} at ${new Date(now).toISOString()}`,
    () =>
      (byModify ? undefined : limits.consume?.(key, now, policy)) ??
      limits.modify(key, (state) => RateLimit.step(state, now, policy)),
    verdictText
  )

/** Fails with `Undecided` if the store counts by its own clock, because its time is unknown to the law. */
const requireGivenTime = (limits: Limits, trial: Trial): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const now = RateLimitHistory.BEGINNING
    yield* count(limits, "clock", now, { plan: { perMinute: 60, perDay: 60 }, ban: undefined }, false, trial)
    const at = (yield* States.read(limits, "clock", trial))?.at
    const isOwnClock = at !== undefined && Math.abs(at - now) > 365 * 86_400_000
    if (isOwnClock)
      return yield* undecided("the store counts by its own clock: open it with the service's clock")
  })

const law = family({ level: "design", profile: "port", on: "limits", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law<ReadonlyArray<RateLimitHistory.Move>>({
    id: "limits-store.counts",
    law:
      "The store counts a request, with `consume` if it has it, exactly as the core's step does: " +
      "with the same verdict and state.",
    clauses: ["limits-store.consume.equal", "limits-store.consume.clock", "limits-store.modify.stored"],
    mustSee: ["admitted", "limited", "banned", "a clock that goes back", "a new day"],
    examples: RateLimitHistory.examples,
    cases: RateLimitHistory.moves,
    runs: { port: 20, http: 0 },
    *holds(limits, moves, trial) {
      yield* requireGivenTime(limits, trial)
      const states = new Map<string, States.State>()
      let clock = RateLimitHistory.BEGINNING
      for (const move of moves) {
        const { byModify, intervalMs, key, policy, requests } = move
        clock = RateLimitHistory.timeOf(move, clock, states.get(key))
        for (let request = 0; request < requests; request++) {
          if (request > 0) clock += intervalMs
          const before = states.get(key)
          const [expected, after] = RateLimit.step(before, clock, policy)
          const verdict = yield* count(limits, key, clock, policy, byModify, trial)
          yield* expect(
            verdictText(verdict) === verdictText(expected),
            `the verdict ${verdictText(expected)}`,
            verdictText(verdict)
          )
          const left = yield* States.read(limits, key, trial)
          yield* States.expectSame(left, after, "the state")
          trial.saw(expected.outcome)
          if (before !== undefined && clock < before.at) trial.saw("a clock that goes back")
          if (before !== undefined && after.day > before.day) trial.saw("a new day")
          states.set(key, after)
        }
      }
    }
  }),
  law({
    id: "limits-store.counts-at-once",
    law: "Exactly as many concurrent requests are admitted as the plan allows.",
    clauses: ["limits-store.consume.atomic", "limits-store.modify.atomic"],
    examples: [
      { requests: 60, policy: { plan: { perMinute: 50, perDay: 1_000 }, ban: undefined } },
      { requests: 60, policy: { plan: { perMinute: 1_000, perDay: 25 }, ban: undefined } }
    ],
    *holds(limits, { policy, requests }, trial) {
      yield* requireGivenTime(limits, trial)
      const { perDay, perMinute } = policy.plan
      const granted = Math.min(perMinute, perDay)
      const verdicts = yield* Effect.forEach(
        Array.from({ length: requests }, (_, index) => index % 2 === 0),
        (byModify) => count(limits, "a", RateLimitHistory.BEGINNING, policy, byModify, trial),
        { concurrency: "unbounded" }
      )
      const admitted = verdicts.filter(({ outcome }) => outcome === "admitted")
      yield* expect(admitted.length === granted, `${granted} admitted`, `${admitted.length}`)
      const distinct = new Set(admitted.map(({ remaining }) => remaining)).size
      yield* expect(
        distinct === granted,
        `a different Remaining for each of ${granted}`,
        `${distinct} different values`
      )
      const used = (yield* States.read(limits, "a", trial))?.used
      yield* expect(used === granted, `${granted} used`, `${used}`)
    }
  })
]
