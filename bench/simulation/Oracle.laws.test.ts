import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Plan } from "../../core/limits/Plan.ts"
import * as Oracle from "./Oracle.ts"

const DAY = 86_400_000

/** Whether admissions keep the contract's limits, checked for every interval between two of them and for each day. */
const isWithinLimits = (times: ReadonlyArray<number>, { perDay, perMinute }: Plan): boolean => {
  for (const [from, first] of times.entries()) {
    for (const [to, last] of times.entries()) {
      if (to < from) continue
      if ((to - from + 1 - perMinute) * 60_000 > (last - first) * perMinute) return false
    }
  }
  const days = times.map((at) => Math.floor(at / DAY))
  return days.every((day) => days.filter((candidate) => candidate === day).length <= perDay)
}

/** Returns the minimum number of admissions to remove to keep the limits, found by trying all subsets. */
const minimumExcess = (times: ReadonlyArray<number>, plan: Plan): number => {
  let best = times.length
  for (let subset = 0; subset < 2 ** times.length; subset++) {
    const kept = times.filter((_, index) => (subset >> index) & 1)
    const left = times.length - kept.length
    if (left < best && isWithinLimits(kept, plan)) best = left
  }
  return best
}

const plan = fc.record({ perMinute: fc.integer({ min: 1, max: 4 }), perDay: fc.integer({ min: 1, max: 6 }) })
const gap = fc.oneof(
  fc.integer({ min: 0, max: 40_000 }),
  fc.constantFrom(0, 15_000, 20_000, 30_000, 60_000, DAY)
)

describe("Oracle.excessOf", () => {
  it("returns the minimum number of admissions to remove so that the contract is kept", () => {
    fc.assert(
      fc.property(
        plan,
        fc.integer({ min: 0, max: DAY }),
        fc.array(gap, { maxLength: 8 }),
        (given, start, gaps) => {
          let at = DAY * 20_000 + start
          const times = gaps.map((ms) => {
            at += ms
            return at
          })
          expect(Oracle.excessOf(times, given)).toBe(minimumExcess(times, given))
          expect(Oracle.excessOf(times.toReversed(), given)).toBe(minimumExcess(times, given))
        }
      ),
      { numRuns: 300 }
    )
  })
})
