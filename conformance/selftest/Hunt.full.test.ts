/** Hunts all faults, a new sample of mutants, and variants drawn from 50 seeds. */
import { mkdirSync, writeFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { faults } from "./Faults.ts"
import type * as Hunt from "./Hunt.ts"
import * as Mutants from "./mutants/Mutants.ts"
import * as Score from "./mutants/Score.ts"
import * as Variants from "./plain/Variants.ts"
import * as Threads from "./Threads.ts"

const HOUR_MS = 3_600_000

/** A seed for each day, so that the samples differ. */
const SEED = Math.floor(Date.now() / 86_400_000)

const [MUTANTS, SEEDS, VARIANTS_PER_SEED] = [1_000, 50, 8]

const huntAll = (
  tasks: ReadonlyArray<Pick<Hunt.Task, "kind" | "id"> & Partial<Hunt.Task>>
): Promise<ReadonlyArray<Hunt.Result>> =>
  Threads.map<Hunt.Task, Hunt.Result>({
    module: new URL("./Hunt.ts", import.meta.url).href,
    inputs: tasks.map((task) => ({ seed: SEED, level: "clause", isBrief: true, ...task }))
  })

const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index)

describe(`the model, with the seed ${SEED}`, () => {
  it("finds every fault, and reports the clause that it breaks", { timeout: HOUR_MS }, async () => {
    const results = await huntAll(faults.map(({ id }) => ({ kind: "fault", id, isBrief: false })))
    const missed = faults.filter(({ breaks }, index) => results[index]?.clauses.includes(breaks) !== true)
    expect(missed.map(({ id }) => id)).toEqual([])
  })

  it("finds nothing in the service of the core", { timeout: HOUR_MS }, async () => {
    const tasks = seeds.map(
      (seed) => ({ kind: "reference", id: "reference", seed, level: "design" }) as const
    )
    const results = await huntAll(tasks.map((task) => ({ ...task, isBrief: false })))
    expect(results.filter(({ found }) => found.length > 0)).toEqual([])
  })

  it("finds nothing in conforming variants", { timeout: HOUR_MS }, async () => {
    const ids = seeds.flatMap((seed) =>
      Variants.of(seed)
        .slice(0, VARIANTS_PER_SEED)
        .map(({ id }) => ({ kind: "variant", id, seed, isBrief: false }) as const)
    )
    const results = await huntAll(ids)
    expect(results.filter(({ found }) => found.length > 0)).toEqual([])
  })

  it("finds nearly all mutants of a sample", { timeout: HOUR_MS }, async () => {
    const sample = Mutants.sample(MUTANTS, SEED)
    const results = await huntAll(sample.map(({ id }) => ({ kind: "mutant", id, level: "spec" })))
    const scored = sample.flatMap((mutant, index) => {
      const result = results[index]
      return result === undefined ? [] : [Score.of(mutant, result)]
    })
    mkdirSync("data", { recursive: true })
    writeFileSync("data/mutants.md", Score.render(scored))
    expect(scored.filter(({ outcome }) => outcome === "disputed")).toEqual([])
    // Those that are missed are listed in the file.
    expect(Score.share(scored)).toBeGreaterThanOrEqual(0.97)
  })
})
