/** Executes a complete run over HTTP: first the doctor, then the checks. */
import * as Effect from "effect/Effect"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as Doctor from "./Doctor.ts"
import type { Report } from "./Report.ts"
import * as Run from "./Run.ts"
import * as Selection from "./Selection.ts"
import { SetupError } from "./SetupError.ts"

/** Examines the set-up and runs the checks. If the set-up is invalid, fails with one sentence before any check runs. */
export const run = Effect.fnUntraced(function* (
  subject: HttpSubject,
  options: Omit<Run.RunOptions, "findings">
): Effect.fn.Return<Report, SetupError | Selection.UnknownSelection> {
  const { exclude = [], level, only = [] } = options
  const selection = { level, only, exclude }
  yield* Effect.fromResult(Run.validate(selection))
  const candidates = [...Run.checksFor(subject, level), ...Run.ambientFor(subject, level).map(Run.selectable)]
  if (!candidates.some((check) => Selection.isSelected(check, selection))) {
    return yield* new SetupError({
      reason: `none of the selected checks applies to a server at level ${level}: see 'animal-store conformance list'`
    })
  }
  const findings = yield* Doctor.examine(subject, options)
  return yield* Run.run(subject, { ...options, findings })
})
