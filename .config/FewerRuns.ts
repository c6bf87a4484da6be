/** Setup file of `npm run test:quick`: each property tries a tenth of its random cases. */
import type * as FastCheck from "fast-check"
import { vi } from "vitest"

/** Runs of a property that does not set their number. */
const DEFAULT_RUNS = 100

vi.mock("fast-check", async (importOriginal) => {
  const fc = await importOriginal<typeof FastCheck>()
  const assert = <Ts>(property: FastCheck.IRawProperty<Ts>, parameters: FastCheck.Parameters<Ts> = {}) =>
    fc.assert(property, { ...parameters, numRuns: Math.ceil((parameters.numRuns ?? DEFAULT_RUNS) / 10) })
  return { ...fc, assert }
})
