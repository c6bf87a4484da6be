import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"
import * as Plan from "./Plan.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"
import * as TokenBucket from "./TokenBucket.ts"

const { DAY, MINUTE, SECOND } = Arbitrary

/** The verdicts on requests at `times`, all under one policy. */
const verdictsAt = (
  state: RateLimit.State | undefined,
  times: ReadonlyArray<number>,
  policyAt: (index: number) => RateLimit.Policy
): ReadonlyArray<RateLimit.Verdict> => {
  let current = state
  return times.map((now, index) => {
    const [verdict, after] = RateLimit.step(current, now, policyAt(index))
    current = after
    return verdict
  })
}

describe("a bucket that is polled as fast as it refills", () => {
  it.each([
    { perMinute: 60, everyMs: 100, tokenMs: 1_000 },
    { perMinute: 1_000, everyMs: 6, tokenMs: 60 },
    { perMinute: 300, everyMs: 8, tokenMs: 200 },
    { perMinute: 1, everyMs: 1_000, tokenMs: 60_000 }
  ])(
    "admits one of $perMinute a minute on its exact tick, polled every $everyMs ms",
    ({ everyMs, perMinute, tokenMs }) => {
      const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
      const start = 20_000 * DAY + 12_345
      let state: RateLimit.State | undefined
      for (let count = 0; count < perMinute; count++) {
        const [verdict, after] = RateLimit.step(state, start, policy)
        expect(verdict.outcome).toBe("admitted")
        state = after
      }
      let wrong = 0
      for (let elapsed = everyMs; elapsed <= 300_000 * everyMs; elapsed += everyMs) {
        const [verdict, after] = RateLimit.step(state, start + elapsed, policy)
        if ((verdict.outcome === "admitted") !== (elapsed % tokenMs === 0)) wrong++
        state = after
      }
      expect(wrong).toBe(0)
    }
  )

  it("never admits more than its capacity and what has been refilled, on clocks a minute apart", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.integer({ min: 1, max: 100 }),
        fc.array(
          fc.record({
            gap: fc.integer({ min: 0, max: MINUTE }),
            behind: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: MINUTE }))
          }),
          { minLength: 1, maxLength: 100, size: "max" }
        ),
        (start, perMinute, requests) => {
          const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
          let state: RateLimit.State | undefined
          let time = start
          let latest = start
          let first = start
          let admitted = 0
          for (const { behind, gap } of requests) {
            time += gap
            const now = time - behind
            if (state === undefined) {
              first = now
              latest = now
            }
            latest = Math.max(latest, now)
            for (let count = 0; count < 5; count++) {
              const [verdict, after] = RateLimit.step(state, now, policy)
              if (verdict.outcome === "admitted") admitted++
              state = after
            }
            expect(admitted).toBeLessThanOrEqual(
              perMinute + Math.floor(((latest - first) * perMinute) / MINUTE)
            )
          }
        }
      )
    )
  })
})

describe("Retry-After", () => {
  it("is kept: the request sent then is admitted if none was sent in between", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.policies,
        fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 * DAY })),
        (start, moves, policies, late) => {
          for (const { after, now, policy, verdict } of Arbitrary.play(start, moves, policies)) {
            // a clock that went back by weeks makes waits that no client's timer can hold
            if (verdict.outcome === "admitted" || verdict.retryAfter === RateLimit.maxRetryAfter) continue
            const [next] = RateLimit.step(after, now + verdict.retryAfter * SECOND + late, policy)
            expect(next.outcome).toBe("admitted")
          }
        }
      ),
      { numRuns: 500 }
    )
  })

  it("is not longer than needed where nobody was told a slot before: a second earlier the request is denied", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { after, now, verdict } of Arbitrary.play(start, moves, [policy])) {
          if (after.debt > 1 && verdict.outcome === "limited") continue
          if (verdict.retryAfter < 2 || verdict.retryAfter === RateLimit.maxRetryAfter) continue
          const [early] = RateLimit.step(after, now + (verdict.retryAfter - 1) * SECOND, policy)
          expect(early.outcome).not.toBe("admitted")
        }
      }),
      { numRuns: 300 }
    )
  })

  it("can be taken from X-RateLimit-Reset too, unless a ban ends before a used-up day", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { after, now, verdict } of Arbitrary.play(start, moves, [policy])) {
          if (verdict.outcome !== "limited" || verdict.retryAfter === RateLimit.maxRetryAfter) continue
          expect(verdict.resetAt * SECOND).toBeGreaterThan(now)
          expect(RateLimit.step(after, verdict.resetAt * SECOND, policy)[0].outcome).toBe("admitted")
        }
      }),
      { numRuns: 300 }
    )
  })
})

describe("a client", () => {
  /** Requests one after the other; after a denial it waits what `patience` makes of Retry-After. */
  const converse = (
    start: number,
    { ban, plans }: { ban: BanPolicy.BanPolicy; plans: ReadonlyArray<Plan.Plan> },
    latencies: ReadonlyArray<{ readonly network: number; readonly thinking: number }>,
    patience: (retryAfterMs: number) => number
  ): ReadonlyArray<Arbitrary.Sent> => {
    const sent: Array<Arbitrary.Sent> = []
    let now = start
    for (const [index, { network, thinking }] of latencies.entries()) {
      const before = sent.at(-1)?.after
      const plan = plans[index % plans.length] ?? Plan.standard.Free
      const policy = { plan, ban }
      const [verdict, after] = RateLimit.step(before, now, policy)
      sent.push({ now, policy, before, verdict, after })
      now += network + (verdict.outcome === "admitted" ? thinking : patience(verdict.retryAfter * SECOND))
    }
    return sent
  }

  const latencies = fc.array(
    fc.record({
      network: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * SECOND })),
      thinking: fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 0, max: 100 }) },
        fc.constant(0),
        fc.integer({ min: 0, max: MINUTE })
      )
    }),
    { minLength: 200, maxLength: 300, size: "max" }
  )

  const small = fc.record({
    perMinute: fc.integer({ min: 1, max: 30 }),
    perDay: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Plan.maxRequests))
  })

  it("that waits Retry-After never gets a strike, under any ban policy, while its plan stays", () => {
    let denials = 0
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.ban, small, latencies, (start, ban, plan, latencies) => {
        for (const { after, verdict } of converse(start, { ban, plans: [plan] }, latencies, (told) => told)) {
          if (verdict.outcome !== "admitted") denials++
          expect([verdict.outcome === "banned", after.strikes, after.bannedUntil]).toEqual([false, 0, 0])
        }
      }),
      { numRuns: 200 }
    )
    expect(denials).toBeGreaterThan(1000)
  })

  it("that waits Retry-After is never banned by the standard policy, whichever way its plan changes", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.array(small, { minLength: 2, maxLength: 3 }),
        latencies,
        (start, plans, latencies) => {
          const sent = converse(start, { ban: BanPolicy.standard, plans }, latencies, (told) => told)
          expect(sent.filter(({ verdict }) => verdict.outcome === "banned")).toEqual([])
        }
      ),
      { numRuns: 100 }
    )
  })

  it("that waits Retry-After is denied once only, not twice in a row, while its plan stays", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.ban, small, latencies, (start, ban, plan, latencies) => {
        const sent = converse(start, { ban, plans: [plan] }, latencies, (told) => told)
        for (const [index, { verdict }] of sent.entries()) {
          if (verdict.outcome === "limited") expect(sent[index + 1]?.verdict.outcome).not.toBe("limited")
        }
      }),
      { numRuns: 100 }
    )
  })

  it("that waits at most 30 s gets few strikes and is never banned by the standard policy", () => {
    let strikes = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.array(small, { minLength: 1, maxLength: 3 }),
        latencies,
        (start, plans, latencies) => {
          const sent = converse(start, { ban: BanPolicy.standard, plans }, latencies, (told) =>
            Math.min(told, 30 * SECOND)
          )
          for (const { after, verdict } of sent) {
            strikes = Math.max(strikes, after.strikes)
            expect([verdict.outcome === "banned", after.bannedUntil]).toEqual([false, 0])
          }
        }
      ),
      { numRuns: 200 }
    )
    expect(strikes).toBeGreaterThanOrEqual(5)
    expect(strikes).toBeLessThanOrEqual(10)
  })

  it("that waits at most 30 s is not banned by a whole day of waiting for midnight", () => {
    const sent = converse(
      20_000 * DAY,
      { ban: BanPolicy.standard, plans: [{ perMinute: 60, perDay: 1 }] },
      Array.from({ length: (2 * DAY) / (30 * SECOND) }, () => ({ network: 0, thinking: 0 })),
      (told) => Math.min(told, 30 * SECOND)
    )
    expect(new Set(sent.map(({ verdict }) => verdict.outcome))).toEqual(new Set(["admitted", "limited"]))
  })
})

describe("a denied request", () => {
  it("changes nothing but Retry-After in any later verdict where nobody can be banned", () => {
    let inserted = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.plan,
        Arbitrary.forwardMoves,
        fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 10 }),
        (start, plan, moves, probes) => {
          const policy = { plan, ban: undefined }
          const sent = Arbitrary.play(start, moves, [policy])
          let state: RateLimit.State | undefined
          for (const [index, { now, verdict }] of sent.entries()) {
            const earlier = sent[index - 1]?.now ?? now
            const count = probes[index % probes.length] ?? 0
            for (let probe = 1; probe <= count; probe++) {
              const at = earlier + Math.floor(((now - earlier) * probe) / count)
              const [answer, after] = RateLimit.step(state, at, policy)
              if (answer.outcome !== "admitted") {
                state = after
                inserted++
              }
            }
            const [same, after] = RateLimit.step(state, now, policy)
            expect({ ...same, retryAfter: 0 }).toEqual({ ...verdict, retryAfter: 0 })
            expect(same.retryAfter).toBeGreaterThanOrEqual(verdict.retryAfter)
            state = after
          }
        }
      ),
      { numRuns: 300 }
    )
    expect(inserted).toBeGreaterThan(1000)
  })

  it("takes nothing from the minute nor from the day, whichever of them denies it", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { after, before, now, verdict } of Arbitrary.play(start, moves, [policy])) {
          if (verdict.outcome !== "limited" || before === undefined) continue
          if (before.at > now + MINUTE) continue // the clock was stepped
          expect(after.level).toBe(TokenBucket.levelAt(before, now, policy.plan.perMinute))
          expect(after.used).toBe(after.day === before.day ? before.used : 0)
        }
      }),
      { numRuns: 200 }
    )
  })

  it("changes nothing at all during a ban: the state is the very same object", () => {
    let banned = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.plan,
        Arbitrary.ban,
        (start, moves, plan, ban) => {
          for (const { after, before, now } of Arbitrary.play(start, moves, [{ plan, ban }])) {
            if (before === undefined || now >= before.bannedUntil || before.at > now + MINUTE) continue
            expect(after).toBe(before)
            banned++
          }
        }
      ),
      { numRuns: 300 }
    )
    expect(banned).toBeGreaterThan(500)
  })
})

describe("whatever happens", () => {
  const played = (check: (sent: Arbitrary.Sent) => void) =>
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policies, (start, moves, policies) => {
        for (const sent of Arbitrary.play(start, moves, policies)) check(sent)
      }),
      { numRuns: 300 }
    )

  it("the state consists of safe integers, none negative", () => {
    played(({ after }) => {
      const fields = Object.values(after)
      expect(fields).toHaveLength(10)
      expect(fields.filter((field) => !Number.isSafeInteger(field) || field < 0)).toEqual([])
    })
  })

  it("the stored moment and the stored day lead the clock by a minute at most, and do not move back else", () => {
    played(({ after, before, now }) => {
      expect(after.at).toBeLessThanOrEqual(now + MINUTE)
      expect(after.day).toBeLessThanOrEqual(Math.floor((now + MINUTE) / DAY))
      if (before === undefined || before.at > now + MINUTE) return
      expect(after.at).toBeGreaterThanOrEqual(before.at)
      expect(after.day).toBeGreaterThanOrEqual(before.day)
    })
  })

  it("Remaining is an integer from 0 to Limit, and 0 on every denial", () => {
    played(({ policy: { plan }, verdict }) => {
      expect([plan.perMinute, plan.perDay]).toContain(verdict.limit)
      expect(Number.isInteger(verdict.remaining)).toBe(true)
      expect(verdict.remaining).toBeGreaterThanOrEqual(0)
      expect(verdict.remaining).toBeLessThanOrEqual(verdict.outcome === "admitted" ? verdict.limit - 1 : 0)
    })
  })

  it("Reset is an integer that has not passed, and not before Retry-After is over while the day has room", () => {
    played(({ after, now, policy, verdict }) => {
      expect(Number.isInteger(verdict.resetAt)).toBe(true)
      expect(verdict.resetAt).toBeGreaterThanOrEqual(Math.floor(now / SECOND))
      if (verdict.outcome === "limited" && after.used < policy.plan.perDay) {
        expect(verdict.resetAt).toBeGreaterThanOrEqual(Math.floor(now / SECOND) + verdict.retryAfter)
      }
    })
  })

  it("Retry-After is 0 when admitted and otherwise an integer that a 32-bit timer can hold", () => {
    played(({ verdict }) => {
      if (verdict.outcome === "admitted") {
        expect(verdict.retryAfter).toBe(0)
        return
      }
      expect(Number.isInteger(verdict.retryAfter)).toBe(true)
      expect(verdict.retryAfter).toBeGreaterThanOrEqual(1)
      expect(verdict.retryAfter * SECOND).toBeLessThan(2 ** 31)
    })
  })

  it("nobody is banned where no ban policy is in force", () => {
    played(({ policy, verdict }) => {
      if (policy.ban === undefined) expect(verdict.outcome).not.toBe("banned")
    })
  })

  it("the stored state is left as it was: a step makes a new one", () => {
    played(({ before, now, policy }) => {
      if (before !== undefined) RateLimit.step(Object.freeze({ ...before }), now, policy)
    })
  })
})

describe("spentAt", () => {
  it("is a moment from which a state and an absent one are answered alike, now and later, under any plan", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        fc.array(Arbitrary.plan, { minLength: 1, maxLength: 3 }),
        Arbitrary.ban,
        fc.array(Arbitrary.plan, { minLength: 1, maxLength: 3 }),
        Arbitrary.moves,
        (start, moves, plans, ban, laterPlans, laterMoves) => {
          const [first = { plan: Plan.standard.Free, ban }, ...rest] = plans.map((plan) => ({ plan, ban }))
          const state = Arbitrary.play(start, moves, [first, ...rest]).at(-1)?.after
          if (state === undefined) return
          const spentAt = RateLimit.spentAt(state, ban)
          let now = spentAt
          const times = laterMoves.flatMap(({ burst, pause }) => {
            now = Math.max(Arbitrary.timeAfter(pause, now, undefined), spentAt)
            return Array.from({ length: burst }, () => now)
          })
          const policyAt = (index: number) => ({
            plan: laterPlans[index % laterPlans.length] ?? Plan.standard.Free,
            ban
          })
          const all = [spentAt, ...times]
          expect(verdictsAt(state, all, policyAt)).toEqual(verdictsAt(undefined, all, policyAt))
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("is the next midnight or a minute after the last request, for a caller who was never denied", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.forwardMoves, Arbitrary.plan, (start, moves, plan) => {
        for (const { after, now, verdict } of Arbitrary.play(start, moves, [
          { plan, ban: BanPolicy.standard }
        ])) {
          if (verdict.outcome !== "admitted") return
          const midnight = (Math.floor(now / DAY) + 1) * DAY
          expect(RateLimit.spentAt(after, BanPolicy.standard)).toBe(Math.max(midnight, now + MINUTE))
        }
      })
    )
  })

  it("is the same for a caller who was denied but got no strike", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.forwardMoves, Arbitrary.plan, (start, moves, plan) => {
        for (const { after, now } of Arbitrary.play(start, moves, [{ plan, ban: BanPolicy.standard }])) {
          if (after.strikeAt > 0) return
          const midnight = (Math.floor(now / DAY) + 1) * DAY
          expect(RateLimit.spentAt(after, BanPolicy.standard)).toBe(Math.max(midnight, now + MINUTE))
        }
      })
    )
  })

  it("is finite for the worst offender: all bans forgiven, one clean day for each", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.plan,
        Arbitrary.ban,
        (start, moves, plan, ban) => {
          const state = Arbitrary.play(start, moves, [{ plan, ban }]).at(-1)?.after
          if (state === undefined) return
          const sinceLast = RateLimit.spentAt(state, ban) - Math.max(state.at, state.bannedUntil)
          expect(sinceLast).toBeLessThanOrEqual(
            ban.durationsMs.length * ban.cleanMs + ban.withinMs + ban.strikeIntervalMs + 3 * DAY
          )
        }
      )
    )
  })
})

describe("the three headers", () => {
  it("come from one window: on success the one with least left, then the one that is full later", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.plan, (start, moves, plan) => {
        for (const { after, verdict } of Arbitrary.play(start, moves, [{ plan, ban: undefined }])) {
          if (verdict.outcome !== "admitted") continue
          const units = plan.perMinute * MINUTE - after.level
          const minute = {
            limit: plan.perMinute,
            remaining: Math.floor(after.level / MINUTE),
            resetAt: Math.ceil((after.at + Math.ceil(units / plan.perMinute)) / SECOND)
          }
          const day = {
            limit: plan.perDay,
            remaining: plan.perDay - after.used,
            resetAt: ((after.day + 1) * DAY) / SECOND
          }
          const { limit, remaining, resetAt } = verdict
          expect([minute, day]).toContainEqual({ limit, remaining, resetAt })
          expect(remaining).toBe(Math.min(minute.remaining, day.remaining))
          if (minute.remaining === day.remaining) {
            expect(resetAt).toBe(Math.max(minute.resetAt, day.resetAt))
          }
        }
      }),
      { numRuns: 300 }
    )
  })
})

describe("verdictOf", () => {
  const integer = (max: number) => fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max }))

  it("answers as the step itself, for the state it came to and whether it admitted", () => {
    const outcomes = new Map<RateLimit.Outcome, number>()
    let back = 0
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policies, (start, moves, policies) => {
        for (const { after, before, now, policy, verdict } of Arbitrary.play(start, moves, policies)) {
          expect(RateLimit.verdictOf(verdict.outcome === "admitted", after, now, policy)).toEqual(verdict)
          outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
          if (before !== undefined && now < before.at) back++
        }
      }),
      { numRuns: 300 }
    )
    expect(Math.min(back, ...outcomes.values())).toBeGreaterThan(1000)
    expect(outcomes.size).toBe(3)
  })

  it("does so for states that no history leads to as well", () => {
    const outcomes = new Map<string, number>()
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.policy,
        fc.record({
          level: fc.oneof(integer(2 * MINUTE), integer(Plan.maxRequests * MINUTE)),
          debt: integer(3 * Plan.maxRequests),
          strikes: integer(20),
          banLevel: integer(4),
          used: fc.oneof(integer(40), integer(Plan.maxRequests))
        }),
        fc.record({
          at: fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }),
          strikesFrom: fc.integer({ min: -DAY, max: DAY }),
          strikeAt: fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }),
          bannedUntil: fc.oneof(
            fc.integer({ min: -MINUTE, max: 2 }),
            fc.integer({ min: -DAY, max: 60 * DAY })
          )
        }),
        fc.integer({ min: -1, max: 1 }),
        (now, policy, counts, offsets, days) => {
          const state: RateLimit.State = {
            ...counts,
            at: now + offsets.at,
            day: Math.floor(now / DAY) + days,
            strikesFrom: now + offsets.strikesFrom,
            strikeAt: now + offsets.strikeAt,
            bannedUntil: now + offsets.bannedUntil
          }
          const [verdict, after] = RateLimit.step(state, now, policy)
          expect(RateLimit.verdictOf(verdict.outcome === "admitted", after, now, policy)).toEqual(verdict)
          outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
        }
      ),
      { numRuns: 3000 }
    )
    expect(Math.min(...outcomes.values())).toBeGreaterThan(100)
    expect(outcomes.size).toBe(3)
  })
})
