/** Setup file for `npm run test:quick`: reduces the number of random cases per property to a tenth. */
import type * as FastCheck from "fast-check"
import { vi } from "vitest"

/** The number of random cases for a property that does not set `numRuns`. */
const DEFAULT_RUNS = 100

vi.mock("fast-check", async (importOriginal) => {
  const fc = await importOriginal<typeof FastCheck>()
  const assert = <Ts>(property: FastCheck.IRawProperty<Ts>, parameters: FastCheck.Parameters<Ts> = {}) =>
    fc.assert(property, { ...parameters, numRuns: Math.ceil((parameters.numRuns ?? DEFAULT_RUNS) / 10) })
  return { ...fc, assert }
})
