import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Batch from "../../adapters/storage/Batch.ts"
import * as Report from "./Report.ts"
import { costs, defaults, networks, type Settings } from "./Settings.ts"
import type { Batching } from "./SimulatedNode.ts"
import * as Simulation from "./Simulation.ts"

const noMistakes = { repeated: 0, misdelivered: 0, dropped: 0, late: 0, unanswered: 0 }

/** Small runs of every topology, at loads from idle to overload; there are few keys, so that limits are reached. */
const settings: fc.Arbitrary<Settings> = fc.record({
  seed: fc.nat(),
  nodes: fc.constantFrom(1, 2, 5, 40),
  stores: fc.constantFrom(1, 1, 3),
  rate: fc.constantFrom(100, 1_000, 20_000),
  seconds: fc.constant(1),
  // Noon, and half a second before midnight.
  startMs: fc.constantFrom(defaults.startMs, Date.UTC(2026, 10, 24) - 500),
  keys: fc.constantFrom(1, 10, 1_000),
  exponent: fc.constantFrom(0, 1, 1.5),
  hot: fc.constantFrom(0, 0.5, 1),
  retries: fc.constantFrom(0, 1),
  cost: fc.constantFrom(costs.postgresql, costs.redis, { ...costs.postgresql, cores: 4 }),
  network: fc.constantFrom(networks.local, networks.region, networks.far),
  maxSize: fc.constantFrom(1, 3, 64),
  concurrency: fc.constantFrom(1, 2, 4),
  timeoutMs: fc.constantFrom(20, 1_000),
  clock: fc.constant("store" as const),
  skewMs: fc.constantFrom(0, 120_000),
  failover: fc.constant(undefined)
})

/** Shortens runs with higher rates, so that each run has at most about 2,000 requests. */
const shorten = (given: Settings): Settings => ({
  ...given,
  seconds: given.failover === undefined ? Math.min(2_000 / given.rate, 10) : given.seconds
})

describe("a simulation without failover", () => {
  it("admits no request over the limits and makes no batching mistake, for any seed and topology", () => {
    let [denied, unavailable, batched] = [0, 0, 0]
    fc.assert(
      fc.property(settings.map(shorten), (given) => {
        const { report } = Simulation.run(given)
        expect(report).toMatchObject({ overAdmissions: 0, lostAdmissions: 0, mistakes: noMistakes })
        const { admitted, banned, limited, requests } = report
        expect(admitted + limited + banned + report.unavailable).toBe(requests)
        expect(report.batch.max).toBeLessThanOrEqual(given.maxSize)
        expect(report.utilization.max).toBeLessThanOrEqual(1.001)
        if (limited > 0) denied++
        if (report.unavailable > 0) unavailable++
        if (report.batch.max > 1) batched++
      }),
      { numRuns: 60 }
    )
    for (const runs of [denied, unavailable, batched]) expect(runs).toBeGreaterThan(5)
  })

  it("returns the same report for the same settings, byte for byte", () => {
    fc.assert(
      fc.property(settings.map(shorten), (given) => {
        expect(Report.json(Simulation.run(given).report)).toBe(Report.json(Simulation.run(given).report))
      }),
      { numRuns: 10 }
    )
  })

  it("returns a different report for a different seed", () => {
    const reports = [1, 2].map((seed) =>
      Report.json(Simulation.run({ ...defaults, seconds: 0.2, seed }).report)
    )
    expect(reports[0]).not.toBe(reports[1])
  })
})

const busy: Settings = { ...defaults, rate: 6_000, seconds: 1, keys: 50, hot: 0.5 }

describe("a failover", () => {
  const failing: Settings = {
    ...busy,
    seconds: 1.5,
    failover: { atMs: 700, lostMs: 300, awayMs: 200 }
  }

  it("admits at most one request over the limits for each lost count", () => {
    const { report } = Simulation.run(failing)
    expect(report.lostAdmissions).toBeGreaterThan(0)
    expect(report.overAdmissions).toBeGreaterThan(0)
    expect(report.unavailable).toBeGreaterThan(0)
    fc.assert(
      fc.property(
        settings.map((given) => shorten({ ...given, failover: undefined })),
        fc.nat(1_000),
        fc.nat(500),
        fc.nat(500),
        (given, atMs, lostMs, awayMs) => {
          const { report } = Simulation.run({ ...given, failover: { atMs, lostMs, awayMs } })
          expect(Report.isValid(report)).toBe(true)
        }
      ),
      { numRuns: 25 }
    )
  })

  it("admits no request over the limits if no count is lost", () => {
    const { report } = Simulation.run({ ...failing, failover: { atMs: 700, lostMs: 0, awayMs: 200 } })
    expect(report).toMatchObject({ overAdmissions: 0, lostAdmissions: 0, mistakes: noMistakes })
    expect(report.unavailable).toBeGreaterThan(0)
  })
})

describe("wrong clocks of nodes", () => {
  const skewed: Settings = { ...busy, nodes: 8, skewMs: 20_000 }

  it("do not affect the report if limits use the store's clock", () => {
    expect(Report.json(Simulation.run(skewed).report)).toBe(
      Report.json(Simulation.run({ ...skewed, skewMs: 0 }).report)
    )
  })

  it("cause over-admissions if limits use the nodes' clocks", () => {
    expect(Simulation.run({ ...skewed, clock: "nodes" }).report.overAdmissions).toBeGreaterThan(0)
  })
})

/** A faulty batching, and the mistake that the oracle must count. */
interface Fault {
  readonly name: string
  readonly mistake: keyof typeof noMistakes
  readonly settings?: Partial<Settings>
  readonly batching: Batching
}

const faults: ReadonlyArray<Fault> = [
  {
    name: "counts a request twice",
    mistake: "repeated",
    batching: (options) =>
      Batch.make({
        ...options,
        run: (handle) => {
          const take = () => {
            const members = handle.take()
            return [...members.slice(0, 1), ...members]
          }
          return Effect.map(options.run({ ...handle, take }), (exits) => exits.slice(1))
        }
      })
  },
  {
    name: "returns results in another order",
    mistake: "misdelivered",
    batching: (options) =>
      Batch.make({
        ...options,
        run: (handle) => Effect.map(options.run(handle), (exits) => exits.toReversed())
      })
  },
  {
    name: "loses the last result of a statement",
    mistake: "dropped",
    batching: (options) =>
      Batch.make({
        ...options,
        run: (handle) =>
          Effect.map(options.run(handle), (exits) =>
            exits.map((exit, index) =>
              index > 0 && index === exits.length - 1 ? Exit.fail("lost" as const) : exit
            )
          )
      })
  },
  {
    name: "never returns some results",
    mistake: "dropped",
    batching: (options) =>
      Effect.map(
        Batch.make(options),
        (submit) => (member, done) =>
          submit(member, (exit) => {
            if (member.request % 10 > 0) done(exit)
          })
      )
  },
  {
    name: "sends withdrawn requests",
    mistake: "late",
    // Statements are small and deadlines short, so that some deadlines pass while requests wait.
    settings: { maxSize: 2, timeoutMs: 5 },
    batching: (options) =>
      Effect.map(Batch.make(options), (submit) => (member, done) => {
        submit(member, done)
        return () => {}
      })
  }
]

describe("the oracle", () => {
  it.each(faults)("detects a batch that $name", ({ batching, mistake, settings }) => {
    const given = { ...busy, rate: 12_000, seconds: 0.3, ...settings }
    expect(Simulation.run(given).report.mistakes).toEqual(noMistakes)
    expect(Simulation.run(given, batching).report.mistakes[mistake]).toBeGreaterThan(0)
  })
})
