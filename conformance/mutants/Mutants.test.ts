import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { SEED, survivorCells } from "../../docs/MutantsPage.ts"
import * as Hunt from "./Hunt.ts"
import * as Legal from "./Legal.ts"
import { install } from "./Mutant.ts"
import { mutants, operators, places, sample } from "./Mutants.ts"
import { absent } from "./Operator.ts"
import * as Survival from "./Survival.ts"

const page = readFileSync(new URL("../../docs/conformance/mutants.md", import.meta.url), "utf8")

/** A sequence of values for each kind; every operator of the kind must change at least one of the values. */
const series: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  integer: [7n, 19_007_199_254_740_993n, 15n],
  count: [7n, 90n, 15n],
  text: [" Ré  <b> \u{1f408} e\u0301", "Aa".repeat(150), "rex"],
  words: ["invalid", "other"],
  type: ["application/json", "text/html"],
  status: ["available", "sold", "pending"],
  list: [["a", "b", "c"], Array.from({ length: 100 }, (_, index) => index), ["a"]],
  body: ["{}", `[${"7,".repeat(3_000)}7]`, "[1]"],
  code: [200n, 404n],
  call: ["call"],
  rule: ["apply"],
  caller: ["key:1", "key:2", "key:1"]
}

describe("the list of mutants", () => {
  it("contains more than 5000 mutants, and all ids are unique", () => {
    expect(mutants.length).toBeGreaterThan(5_000)
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length)
    expect(new Set(places.map(({ id }) => id)).size).toBe(places.length)
    expect(new Set(operators.map(({ id }) => id)).size).toBe(operators.length)
  })

  it("uses only operators that change at least one value of each of their kinds", () => {
    const unused = operators.flatMap(({ id, kinds, make }) =>
      kinds.flatMap((kind) => {
        const change = make()
        const changes = (series[kind] ?? []).map((value) => [value, change(value)] as const)
        return changes.some(([before, after]) => after === absent || before !== after)
          ? []
          : [`${id}: ${kind}`]
      })
    )
    expect(unused).toEqual([])
  })

  it("uses every operator and every place, and contains only faults of an HTTP server", () => {
    expect(operators.filter((operator) => !mutants.some((mutant) => mutant.operator === operator))).toEqual(
      []
    )
    expect(places.filter((place) => !mutants.some((mutant) => mutant.place === place))).toEqual([])
    expect(mutants.filter((mutant) => install(mutant, { reached: 0, changed: 0 }).at !== "http")).toEqual([])
  })

  it("explains survivors only for conditions that exist", () => {
    const ids = new Set(mutants.map(({ condition }) => condition.id))
    expect(Survival.explained.filter((id) => !ids.has(id))).toEqual([])
  })

  it("has a sample for each seed, and a smaller sample is a prefix of a larger sample", () => {
    expect(sample(20, 5)).toEqual(sample(50, 5).slice(0, 20))
    expect(sample(20, 5)).not.toEqual(sample(20, 6))
  })
})

describe("the page docs/conformance/mutants.md", () => {
  it("states the number of mutants", () => {
    expect(page, "run: node docs/MutantsPage.ts").toContain(`has ${mutants.length} mutants`)
  })

  it("lists every survivor among the first 16 mutants of its sample", { timeout: 120_000 }, async () => {
    const unlisted: Array<string> = []
    for (const mutant of sample(16, SEED)) {
      const { by, outcome } = await Effect.runPromise(Hunt.hunt(mutant, SEED))
      // If the suite now detects a mutant that the page lists as a survivor, the page need not change.
      if (outcome !== "survived" || Legal.reasonFor(mutant) !== undefined) continue
      if (!page.includes(survivorCells(mutant.id, by === undefined))) unlisted.push(mutant.id)
    }
    expect(unlisted, "run: node docs/MutantsPage.ts").toEqual([])
  })
})
