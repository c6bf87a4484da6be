import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Failure, inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import * as Toys from "./Toys.fixture.ts"

const collecting = (id: string) => {
  const met: Array<string> = []
  const toy = Toys.check<string>({
    id,
    cases: fc.string(),
    runs: { port: 10, http: 10 },
    holds: (_face, given) => Effect.sync(() => void met.push(given))
  })
  return { met, toy }
}

describe("the seed of a run", () => {
  it("gives a check the same cases, no matter which checks ran before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.string(), fc.string(), async (seed, id, otherId) => {
        const first = collecting(id)
        await Toys.investigate(first.toy, { seed })
        await Toys.investigate(collecting(otherId).toy, { seed })
        const second = collecting(id)
        await Toys.investigate(second.toy, { seed })
        expect(second.met).toEqual(first.met)
        expect(first.met).toHaveLength(10)
      }),
      { numRuns: 30 }
    )
  })

  it("gives different cases to different checks, and a different seed gives a check different cases", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const [first, second, later] = [collecting("toy.one"), collecting("toy.two"), collecting("toy.one")]
        await Toys.investigate(first.toy, { seed })
        await Toys.investigate(second.toy, { seed })
        await Toys.investigate(later.toy, { seed: seed + 1 })
        expect(second.met).not.toEqual(first.met)
        expect(later.met).not.toEqual(first.met)
      }),
      { numRuns: 20 }
    )
  })
})

/** How an evaluation of a toy check ends. */
type Ending = "holds" | "undecided" | "inapplicable" | "violation" | "defect"

const ends = {
  holds: Effect.void,
  undecided: undecided("why"),
  inapplicable: inapplicable("never"),
  violation: Effect.fail(new Violation({ expected: "a", actual: "b" })),
  defect: Effect.die(new Error("oops"))
} as const satisfies { readonly [ending in Ending]: Effect.Effect<void, Failure> }

describe("Investigate.investigate with arbitrary examples or cases", () => {
  it("returns the status of the first failure or error; without one, an undecided example makes the check inconclusive", async () => {
    const endings = fc.constantFrom<Ending>(
      "holds",
      "holds",
      "undecided",
      "inapplicable",
      "violation",
      "defect"
    )
    await fc.assert(
      fc.asyncProperty(fc.array(endings), async (examples) => {
        const toy = Toys.check<Ending>({
          examples,
          holds: (_face, given) => ends[given]
        })
        const { counterexample, runs, status } = await Toys.investigate(toy)
        const last = examples.findIndex((ending) => ending === "violation" || ending === "defect")
        const tried = last === -1 ? examples : examples.slice(0, last + 1)
        const decided = tried.filter((ending) => !["undecided", "inapplicable"].includes(ending)).length
        const ending = last === -1 ? undefined : examples[last]
        if (ending === "violation") expect(status).toBe("fail")
        else if (ending === "defect") expect(status).toBe("error")
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
          holds: (_face, given) => ends[given >= boundary ? "violation" : "holds"]
        })
        const { counterexample } = await Toys.investigate(toy, { seed })
        expect(counterexample?.case).toBe(String(boundary))
      }),
      { numRuns: 50 }
    )
  })
})
