import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Failure, inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import * as Toys from "./Toys.fixture.ts"

const collectCases = (id: string) => {
  const tried: Array<string> = []
  const toy = Toys.check<string>({
    id,
    cases: fc.string(),
    runs: { port: 10, http: 10 },
    holds: (_face, given) => Effect.sync(() => void tried.push(given))
  })
  return { tried, toy }
}

describe("the seed of a run", () => {
  it("gives a check the same cases, no matter which checks ran before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.string(), fc.string(), async (seed, id, otherId) => {
        const first = collectCases(id)
        await Toys.investigate(first.toy, { seed })
        await Toys.investigate(collectCases(otherId).toy, { seed })
        const second = collectCases(id)
        await Toys.investigate(second.toy, { seed })
        expect(second.tried).toEqual(first.tried)
        expect(first.tried).toHaveLength(10)
      }),
      { numRuns: 30 }
    )
  })

  it("gives different checks different cases, and different seeds give a check different cases", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const [first, second, later] = [
          collectCases("toy.one"),
          collectCases("toy.two"),
          collectCases("toy.one")
        ]
        await Toys.investigate(first.toy, { seed })
        await Toys.investigate(second.toy, { seed })
        await Toys.investigate(later.toy, { seed: seed + 1 })
        expect(second.tried).not.toEqual(first.tried)
        expect(later.tried).not.toEqual(first.tried)
      }),
      { numRuns: 20 }
    )
  })
})

/** The outcomes of an evaluation of a toy check. */
type OutcomeName = "holds" | "undecided" | "inapplicable" | "violation" | "defect"

const outcomes = {
  holds: Effect.void,
  undecided: undecided("why"),
  inapplicable: inapplicable("never"),
  violation: Effect.fail(new Violation({ expected: "a", actual: "b" })),
  defect: Effect.die(new Error("oops"))
} as const satisfies { readonly [outcome in OutcomeName]: Effect.Effect<void, Failure> }

describe("Investigate.investigate", () => {
  it("returns the status of the first failure or error; without one, an undecided example makes the check inconclusive", async () => {
    const outcomeNames = fc.constantFrom<OutcomeName>(
      "holds",
      "holds",
      "undecided",
      "inapplicable",
      "violation",
      "defect"
    )
    await fc.assert(
      fc.asyncProperty(fc.array(outcomeNames), async (examples) => {
        const toy = Toys.check<OutcomeName>({
          examples,
          holds: (_face, given) => outcomes[given]
        })
        const { counterexample, runs, status } = await Toys.investigate(toy)
        const failedAt = examples.findIndex((outcome) => outcome === "violation" || outcome === "defect")
        const tried = failedAt === -1 ? examples : examples.slice(0, failedAt + 1)
        const decided = tried.filter((outcome) => !["undecided", "inapplicable"].includes(outcome)).length
        const outcome = failedAt === -1 ? undefined : examples[failedAt]
        if (outcome === "violation") expect(status).toBe("fail")
        else if (outcome === "defect") expect(status).toBe("error")
        else if (examples.includes("undecided") || examples.length === 0) expect(status).toBe("inconclusive")
        else expect(status).toBe(decided > 0 ? "pass" : "not-applicable")
        expect(counterexample !== undefined).toBe(status === "fail")
        expect(runs.executed).toBe(tried.length)
        expect(runs.decided).toBe(decided)
      }),
      { numRuns: 200 }
    )
  })

  it("shrinks a failing number to the smallest failing number", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 400 }), fc.nat(), async (boundary, seed) => {
        const toy = Toys.check<number>({
          cases: fc.nat({ max: 1_000 }),
          holds: (_face, given) => outcomes[given >= boundary ? "violation" : "holds"]
        })
        const { counterexample } = await Toys.investigate(toy, { seed })
        expect(counterexample?.case).toBe(String(boundary))
      }),
      { numRuns: 50 }
    )
  })
})
