import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Cases from "./Cases.ts"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { pets } from "./Pets.ts"
import type { Case } from "./Port.ts"

const nothing: Case = { calls: [], clients: [], order: null, isOutage: false }

const ports = [pets, limits, keys].map(({ kinds, ...port }) => ({ ...port, cases: Cases.make(kinds) }))

describe.each(ports)("a case of $name", ({ cases, name, scenarios = [] }) => {
  const all = (seed: number): ReadonlyArray<unknown> =>
    [...scenarios, ...cases.outage(seed), ...cases.random(seed, 0.1)].map((part) => ({ ...nothing, ...part }))

  it("is recognized after it was written as text", () => {
    for (const given of all(1)) {
      const text = Cases.write(name, given)
      const read = Result.getOrThrow(Cases.parse(text))
      expect(cases.is(read.value)).toBe(true)
      expect(Cases.write(name, read.value)).toBe(text)
    }
  })

  it("becomes smaller step by step, down to nothing", () => {
    let given: unknown = all(1).at(-1)
    for (let steps = 0; steps < 1_000; steps++) {
      if (!cases.is(given)) expect.unreachable("a smaller case that is no case")
      const [smaller] = cases.smaller(given)
      if (smaller === undefined) break
      given = smaller
    }
    expect(given).toMatchObject({ calls: [], clients: [] })
  })
})

describe("the text of a case", () => {
  it.each(["", "null", "no JSON"])("rejects %j", (text) => {
    expect(Result.isFailure(Cases.parse(text))).toBe(true)
  })
})
