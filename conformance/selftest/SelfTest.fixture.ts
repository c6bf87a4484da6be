/** Tests that the check which each fault names rejects the fault. */
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { Fault } from "./Fault.ts"
import * as SelfTest from "./SelfTest.ts"

/** Runs the named check on each fault with one seed; `KillMatrix.full.test.ts` tries more seeds. */
export const describeFaults = (title: string, faults: ReadonlyArray<Fault>): void => {
  describe(title, () => {
    it.each(faults)("is rejected by its check: $id, by $killedBy", async (fault) => {
      expect(await Effect.runPromise(SelfTest.missOf(fault, 1))).toBeUndefined()
    })
  })
}
