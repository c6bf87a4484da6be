import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Compare from "./Compare.ts"
import { resultsOf } from "./Results.fixture.ts"

const BARE = 20

const runOf = (ratio: number, server = "AnimalStore memory") =>
  resultsOf({ get: { Bare: BARE, [server]: BARE * ratio } })

const flagged = ({ ratios }: Compare.Comparison) =>
  ratios.filter(({ isFlagged }) => isFlagged).map(({ operation, server }) => `${operation} at ${server}`)

describe("Compare", () => {
  it("flags a ratio exactly when it is worse by more than a tenth", () => {
    expect(flagged(Compare.compare(runOf(1), runOf(1.1)))).toEqual([])
    expect(flagged(Compare.compare(runOf(1), runOf(1.101)))).toEqual(["get at AnimalStore memory"])
    const ratio = fc.double({ min: 0.5, max: 50, noNaN: true })
    fc.assert(
      fc.property(ratio, fc.double({ min: 0.5, max: 2, noNaN: true }), (before, factor) => {
        fc.pre(Math.abs(factor - 1.1) > 1e-9)
        const compared = Compare.compare(runOf(before), runOf(before * factor))
        expect(flagged(compared)).toEqual(factor > 1.1 ? ["get at AnimalStore memory"] : [])
      })
    )
  })

  it("flags no server of others, whose versions are not ours to answer for", () => {
    const { ratios } = Compare.compare(runOf(1, "Fastify"), runOf(3, "Fastify"))
    expect(ratios.find(({ server }) => server === "Fastify")).toMatchObject({
      before: 1,
      now: 3,
      isFlagged: false
    })
  })

  it("compares what both have measured, and tells what of ours is missing", () => {
    const baseline = resultsOf({
      get: { Bare: 20, "AnimalStore memory": 30, "AnimalStore SQLite": 60 },
      create: { Bare: 20, "AnimalStore memory": 40 }
    })
    const compared = Compare.compare(baseline, runOf(1.5))
    expect(compared.missing).toEqual(["get at AnimalStore SQLite"])
    expect(compared.ratios.map(({ operation, server }) => `${operation} ${server}`)).toEqual([
      "get Bare",
      "get AnimalStore memory"
    ])
    expect(Compare.render(compared)).toContain("not measured now: get at AnimalStore SQLite")
  })

  it("says in words how it ended", () => {
    expect(Compare.render(Compare.compare(runOf(1), runOf(1)))).toContain("No ratio of ours is worse")
    const worse = Compare.render(Compare.compare(runOf(1), runOf(1.5)))
    expect(worse).toMatch(/get +AnimalStore memory +1\.00 +1\.50 +\+50\.0 % {2}WORSE/)
  })
})
