/** The suite in vitest. */
import { describe, it } from "vitest"
import type { Subject } from "../subjects/Subject.ts"
import { type CasesOptions, cases } from "./Cases.ts"

export type { CasesOptions, Subject }

/** Longest that one check may take, shrinking and waiting for limits included, in ms. */
const TIMEOUT_MS = 180_000

/**
 * Adds a `describe` with a test for each check; what does not apply is skipped, with the reason in its name.
 *
 * @example
 * ```ts
 * suite(Conformance.ports({ name: "my store", petRepository: MyPetRepository.layer }), { level: "design" })
 * ```
 */
export const suite = (subject: Subject, options: CasesOptions = {}): void => {
  // In sequence, in this order, and without retries: checks share the subject, and a retry would hide rare failures.
  describe(`conformance of ${subject.name}`, {
    concurrent: false,
    shuffle: false,
    retry: 0,
    timeout: TIMEOUT_MS
  }, () => {
    for (const { name, run, skip } of cases(subject, options)) {
      if (skip === undefined) it(name, run)
      else it.skip(`${name} (${skip})`)
    }
  })
}
