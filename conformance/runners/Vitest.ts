/** Runs the suite in Vitest. */
import { describe, it } from "vitest"
import type { Subject } from "../subjects/Subject.ts"
import { type CasesOptions, cases } from "./Cases.ts"

export type { CasesOptions, Subject }

/** Timeout in milliseconds of the first test, which runs the whole suite, with all waits for limits. */
const TIMEOUT_MS = 900_000

/**
 * Adds a `describe` with a test for each check; the name of a skipped test contains the reason.
 *
 * @example
 * ```ts
 * suite(Conformance.ports({ name: "my store", petRepository: MyPetRepository.layer }), { level: "design" })
 * ```
 */
export const suite = (subject: Subject, options: CasesOptions = {}): void => {
  // In sequence, in this order, and without retries: all tests share one run.
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
