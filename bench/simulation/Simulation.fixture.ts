/** Observes the batches of simulations, and defines their laws for any number of runs. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { expect } from "vitest"
import * as Batch from "../../adapters/storage/Batch.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import type { Request } from "./Oracle.ts"
import * as Arbitrary from "./Settings.arbitrary.ts"
import type { Settings } from "./Settings.ts"
import * as Simulation from "./Simulation.ts"

export const noMistakes = {
  /** Requests that were sent to the store more than once. */
  repeated: 0,
  /** Requests that received another result than the store returned for them. */
  misdelivered: 0,
  /** Requests that ended without the result that the store had returned for them. */
  dropped: 0,
  /** Requests that were sent to the store after they had ended. */
  late: 0
}

/** Runs a simulation, and counts the mistakes of its batches; tests pass faulty batching. */
export const run = (
  settings: Settings,
  batching: Simulation.Batching = Batch.make
): Simulation.Report & { readonly mistakes: typeof noMistakes } => {
  const mistakes = { ...noMistakes }
  const sent = new Set<Request>()
  const ended = new Set<Request>()
  const returned = new Map<Request, Exit.Exit<Verdict, "lost">>()
  const observed: Simulation.Batching = (options) => {
    const submits = batching({
      ...options,
      run: (handle) => {
        let members: ReadonlyArray<Request> = []
        const take = () => {
          members = handle.take()
          for (const member of members) {
            if (ended.has(member)) mistakes.late++
            if (sent.has(member)) mistakes.repeated++
            sent.add(member)
          }
          return members
        }
        return Effect.map(options.run({ ...handle, take }), (exits) => {
          for (const [index, exit] of exits.entries()) {
            const member = members[index]
            if (member !== undefined) returned.set(member, exit)
          }
          return exits
        })
      }
    })
    return Effect.map(submits, (submit) => (member, done) => {
      const withdraw = submit(member, (exit) => {
        const expected = returned.get(member)
        // The connection to the store may be lost before it returns results.
        if (expected === undefined ? Exit.isSuccess(exit) : exit !== expected) mistakes.misdelivered++
        ended.add(member)
        done(exit)
      })
      return () => {
        if (!ended.has(member) && returned.has(member)) mistakes.dropped++
        ended.add(member)
        withdraw()
      }
    })
  }
  return { ...Simulation.run(settings, observed), mistakes }
}

/** Expects that runs without failover admit no request over the limits and make no batching mistake. */
export const expectExact = (numRuns: number): void => {
  let [denied, unavailable, batched] = [0, 0, 0]
  fc.assert(
    fc.property(Arbitrary.settings, (given) => {
      const report = run(given)
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
      const report = run({ ...given, failover })
      expect(report.overAdmissions).toBeLessThanOrEqual(report.lostAdmissions)
      expect(report.mistakes).toEqual(noMistakes)
    }),
    { numRuns }
  )
}
