import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Meter from "./Meter.ts"

const [MORNING, DAY] = [Date.UTC(2026, 11, 1, 9), 86_400_000]

const plans = fc.record({
  perMinute: fc.integer({ min: 1, max: 12 }),
  perDay: fc.integer({ min: 1, max: 200 })
})

/** Bursts of requests with equal waits between them, as clients of every patience send them. */
const bursts = fc.array(
  fc.record({
    wait: fc.oneof(
      fc.nat(3_000),
      fc.constantFrom(0, 999, 1_000, 30_000, 60_000, 61_000, 300_000, 3_600_000, DAY / 2, DAY, 2 * DAY)
    ),
    requests: fc.integer({ min: 1, max: 60 })
  }),
  { minLength: 1, maxLength: 12 }
)

describe("Meter.step", () => {
  it("decides and shows what the service does, for any plan and any times", () => {
    fc.assert(
      fc.property(plans, bursts, fc.boolean(), (plan, all, isKey) => {
        const policy = { plan, ban: isKey ? BanPolicy.standard : undefined }
        let meter = Meter.make(plan, isKey)
        let state: RateLimit.State | undefined
        let now = MORNING
        for (const { requests, wait } of all) {
          for (let request = 0; request < requests; request++) {
            now += wait
            const [verdict, nextState] = RateLimit.step(state, now, policy)
            const [{ denial: _, ...judged }, nextMeter] = Meter.step(meter, now)
            const { beganBan: __, day, minute, ...shown } = verdict
            const windows = [minute, day].map(({ moreIn, ...window }) => ({ ...window, more: moreIn }))
            expect(judged).toEqual({ ...shown, minute: windows[0], day: windows[1] })
            state = nextState
            meter = nextMeter
          }
        }
      }),
      { numRuns: 300 }
    )
  })
})
