/** Setup file of `npm run test:full`: runs five times as many random cases of each property as `npm test`. */
import type * as FastCheck from "fast-check"
import { vi } from "vitest"

const FACTOR = 5

/** The number of random cases of a property that does not set `numRuns`. */
const DEFAULT_RUNS = 100

vi.mock("fast-check", async (importOriginal) => {
  const fc = await importOriginal<typeof FastCheck>()
  const assert = <Ts>(property: FastCheck.IRawProperty<Ts>, parameters: FastCheck.Parameters<Ts> = {}) =>
    fc.assert(property, { ...parameters, numRuns: FACTOR * (parameters.numRuns ?? DEFAULT_RUNS) })
  return { ...fc, assert }
})
