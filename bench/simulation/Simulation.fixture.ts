/** The laws of simulations, for any number of runs. */
import * as fc from "fast-check"
import { expect } from "vitest"
import * as Arbitrary from "./Settings.arbitrary.ts"
import * as Simulation from "./Simulation.ts"

export const noMistakes = { repeated: 0, misdelivered: 0, dropped: 0, late: 0, unanswered: 0 }

/** Expects that runs without failover admit no request over the limits and make no batching mistake. */
export const expectExact = (numRuns: number): void => {
  let [denied, unavailable, batched] = [0, 0, 0]
  fc.assert(
    fc.property(Arbitrary.settings, (given) => {
      const report = Simulation.run(given)
      expect(report).toMatchObject({ overAdmissions: 0, lostAdmissions: 0, mistakes: noMistakes })
      const { admitted, banned, limited, requests } = report
      expect(admitted + limited + banned + report.unavailable).toBe(requests)
      expect(report.batch.max).toBeLessThanOrEqual(given.maxSize)
      expect(report.utilization).toBeLessThanOrEqual(1.001)
      if (limited > 0) denied++
      if (report.unavailable > 0) unavailable++
      if (report.batch.max > 1) batched++
    }),
    { numRuns }
  )
  for (const runs of [denied, unavailable, batched]) expect(runs).toBeGreaterThan(numRuns / 20)
}

/** Expects that runs with a failover admit at most one request over the limits for each lost count. */
export const expectBoundedByLostCounts = (numRuns: number): void => {
  const failover = fc.record({ atMs: fc.nat(1_000), lostMs: fc.nat(500), awayMs: fc.nat(500) })
  fc.assert(
    fc.property(Arbitrary.settings, failover, (given, failover) => {
      const report = Simulation.run({ ...given, failover })
      expect(report.overAdmissions).toBeLessThanOrEqual(report.lostAdmissions)
      expect(report.mistakes).toEqual(noMistakes)
    }),
    { numRuns }
  )
}
