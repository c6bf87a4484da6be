import { describe, expect, it } from "vitest"
import { clauses } from "../clauses/Clauses.ts"
import { faults } from "./Faults.ts"
import * as Hunt from "./Hunt.ts"
import * as Mutants from "./mutants/Mutants.ts"
import * as Score from "./mutants/Score.ts"
import * as Variants from "./plain/Variants.ts"

const hunt = (task: Pick<Hunt.Task, "kind" | "id"> & Partial<Hunt.Task>): Promise<Hunt.Result> =>
  Hunt.task({ seed: 1, level: "clause", isBrief: true, ...task })

/** Returns every n-th item, so that a few items represent a long list. */
const every = <A>(n: number, all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all.filter((_, index) => index % n === 0)

describe("the faults", () => {
  it("have unique ids, and break clauses that exist", () => {
    expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length)
    const slugs = new Set<string>(clauses.map(({ slug }) => slug))
    expect(faults.filter(({ breaks }) => !slugs.has(breaks))).toEqual([])
  })
})

describe("the model", () => {
  it("finds nothing in the service of the core", async () => {
    const reference = { kind: "reference", id: "reference", level: "design", isBrief: false } as const
    const { found, requests } = await hunt(reference)
    expect(found).toEqual([])
    expect(requests).toBeGreaterThan(1_000)
  })

  it.each(Variants.of(2).slice(0, 2))("finds nothing in the conforming variant $id", async ({ id }) => {
    expect((await hunt({ kind: "variant", id, isBrief: false })).found).toEqual([])
  })

  it.each(every(25, faults))("finds the fault $id", async ({ id }) => {
    expect((await hunt({ kind: "fault", id })).found.length).toBeGreaterThan(0)
  })

  it("finds nearly all mutants of responses in one recording", async () => {
    const sample = Mutants.sample(200, 1, "spec", ({ changesResponses }) => changesResponses === true)
    const scored: Array<Score.Scored> = []
    for (const mutant of sample) {
      const result = await hunt({ kind: "mutant", id: mutant.id, level: "spec", isOnlyRecorded: true })
      scored.push(Score.of(mutant, result))
    }
    const of = (outcome: Score.Outcome) =>
      scored.filter((each) => each.outcome === outcome).map(({ mutant }) => mutant.id)
    expect(of("disputed")).toEqual([])
    expect(of("found").length).toBeGreaterThan(75)
    expect(Score.share(scored), of("missed").join("\n")).toBeGreaterThan(0.95)
  })
})
