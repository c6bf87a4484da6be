import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { describe, expect, it } from "vitest"
import * as Batch from "../../adapters/storage/Batch.ts"
import { defaults, type Settings } from "./Settings.ts"
import * as Laws from "./Simulation.fixture.ts"
import type * as Simulation from "./Simulation.ts"
import * as Table from "./Table.ts"

const busy: Settings = { ...defaults, rate: 6_000, seconds: 1, keys: 50, hot: 0.5 }

describe("a simulation without failover", () => {
  it("admits no request over the limits and makes no batching mistake, for any seed and topology", () =>
    Laws.expectExact(40))

  it("returns the same report for the same settings, and another for another seed", () => {
    const reports = [1, 1, 2].map((seed) => JSON.stringify(Laws.run({ ...busy, seconds: 0.2, seed })))
    expect(reports[0]).toBe(reports[1])
    expect(reports[0]).not.toBe(reports[2])
  })
})

describe("a failover", () => {
  const failing: Settings = {
    ...busy,
    seconds: 1.5,
    failover: { atMs: 700, lostMs: 300, awayMs: 200 }
  }

  it("admits at most one request over the limits for each lost count", () => {
    const report = Laws.run(failing)
    expect(report.lostAdmissions).toBeGreaterThan(0)
    expect(report.overAdmissions).toBeGreaterThan(0)
    expect(report.unavailable).toBeGreaterThan(0)
    Laws.expectBoundedByLostCounts(15)
  })

  it("admits no request over the limits if no count is lost", () => {
    const report = Laws.run({ ...failing, failover: { atMs: 700, lostMs: 0, awayMs: 200 } })
    expect(report).toMatchObject({ overAdmissions: 0, lostAdmissions: 0, mistakes: Laws.noMistakes })
    expect(report.unavailable).toBeGreaterThan(0)
  })
})

/** A faulty batching, and the mistake that the oracle must count. */
interface Fault {
  readonly name: string
  readonly mistake: keyof typeof Laws.noMistakes
  readonly settings?: Partial<Settings>
  readonly batching: Simulation.Batching
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
    mistake: "misdelivered",
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
            if (Math.floor(member.arrivedMs) % 10 > 0) done(exit)
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
    expect(Laws.run(given).mistakes).toEqual(Laws.noMistakes)
    expect(Laws.run(given, batching).mistakes[mistake]).toBeGreaterThan(0)
  })

  it("counts admissions over the limits of a store that loses a state", () => {
    const failover = { atMs: 500, lostMs: 500, awayMs: 1 }
    const { lostAdmissions, overAdmissions } = Laws.run({ ...busy, keys: 5, failover })
    expect(overAdmissions).toBeGreaterThan(100)
    expect(overAdmissions).toBeLessThanOrEqual(lostAdmissions)
  })
})

it("the table in docs/scaling.md lists every scenario, the first with the figures of the current code", () => {
  const page = fs.readFileSync(Table.file, "utf8")
  for (const [shows] of Table.scenarios) expect(page).toContain(`\n| ${shows} |`)
  // The other scenarios take too long for every run of the tests.
  for (const scenario of Table.scenarios.slice(0, 1))
    expect(page, "run: npm run simulate").toContain(Table.row(scenario))
})
