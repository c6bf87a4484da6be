import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Violation } from "../evaluation/Outcome.ts"
import * as Boundaries from "./Boundaries.ts"
import * as Case from "./Case.ts"
import * as Toys from "./Toys.fixture.ts"

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

const violation = Effect.fail(new Violation({ expected: "the integer", actual: "another" }))

describe("Investigate.investigate", () => {
  const narrowTypes: ReadonlyArray<readonly [string, (value: bigint) => boolean, ReadonlyArray<bigint>]> = [
    ["a double", (value) => BigInt(Number(value)) !== value, [2n ** 53n + 1n, -(2n ** 53n) - 1n]],
    ["an int32", (value) => BigInt.asIntN(32, value) !== value, [2n ** 31n, -(2n ** 32n)]],
    ["a uint53", (value) => value > 2n ** 53n, [2n ** 53n + 1n]]
  ]

  it.each(narrowTypes)(
    "replaces an integer in a shrunk case with the first boundary value that does not fit into %s",
    async (_what, doesNotFit, expected) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const toy = Toys.check<{ readonly all: ReadonlyArray<bigint> }>({
          examples: [],
          cases: fc.record({ all: fc.array(int64, { minLength: 1 }) }),
          holds: (_face, { all }) => (all.some(doesNotFit) ? violation : Effect.void)
        })
        const { counterexample, status } = await Toys.investigate(toy, { seed })
        expect(status).toBe("fail")
        const given = Case.decode(counterexample?.case ?? "") as { readonly all: ReadonlyArray<bigint> }
        expect(expected).toContain(given.all.find(doesNotFit))
      }
    }
  )
})

describe("Boundaries.simplerCases", () => {
  it("makes the absolute value of an integer smaller, and changes nothing else", () => {
    fc.assert(
      fc.property(int64, fc.string(), (value, word) => {
        const absolute = (integer: bigint) => (integer < 0n ? -integer : integer)
        for (const variant of Boundaries.simplerCases({ value, word, bytes: new Uint8Array(1) })) {
          const { value: replacement, ...rest } = variant as { readonly value: bigint }
          expect(absolute(replacement) < absolute(value)).toBe(true)
          expect(rest).toEqual({ word, bytes: new Uint8Array(1) })
        }
      })
    )
    expect(Boundaries.simplerCases("text")).toEqual([])
    expect(Boundaries.simplerCases(null)).toEqual([])
  })
})
