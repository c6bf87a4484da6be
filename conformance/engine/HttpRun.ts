/** A whole run over HTTP: the doctor first, then the checks. */
import * as Effect from "effect/Effect"
import type { Report } from "../reports/Report.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as Doctor from "./Doctor.ts"
import * as Run from "./Run.ts"
import type { UnknownSelection } from "./Selection.ts"
import type { SetupFault } from "./SetupFault.ts"

/** Fails with one sentence when the set-up is wrong; then nothing was tried. */
export const run = Effect.fnUntraced(function* (
  subject: HttpSubject,
  options: Omit<Run.RunOptions, "findings"> & {
    readonly onFindings?: (findings: ReadonlyArray<string>) => void
  }
): Effect.fn.Return<Report, SetupFault | UnknownSelection> {
  const findings = yield* Doctor.examine(subject, options)
  options.onFindings?.(findings)
  return yield* Run.run(subject, { ...options, findings })
})
