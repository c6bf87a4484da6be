import { describe, expect, it } from "vitest"
import * as Cases from "./Cases.ts"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { pets } from "./Pets.ts"
import type { Case } from "./Port.ts"

const nothing: Case = { calls: [], clients: [], order: null, isOutage: false }

const ports = [pets, limits, keys].map(({ kinds, ...port }) => ({ ...port, cases: Cases.make(kinds) }))

describe.each(ports)("a case of $name", ({ cases, scenarios = [] }) => {
  const all = (seed: number): ReadonlyArray<Case> =>
    [...scenarios, ...cases.outage(seed), ...cases.random(seed, 0.1)].map((part) => ({ ...nothing, ...part }))

  it("becomes smaller step by step, down to nothing, in whatever way it was made", () => {
    for (const first of all(1)) {
      let given = first
      for (let steps = 0; steps < 1_000; steps++) {
        const [smaller] = cases.smaller(given)
        if (smaller === undefined) break
        given = smaller
      }
      expect(given).toMatchObject({ calls: [], clients: [] })
    }
  })
})
