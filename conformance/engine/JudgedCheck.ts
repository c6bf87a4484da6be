/** A check and what is told of it. */
import type { Check } from "../checks/Check.ts"
import type { CheckResult } from "../reports/Report.ts"

/** What a report repeats of a check. */
export type Judged = Pick<Check, "id" | "law" | "clauses" | "level" | "profile">

/** What was found out; what is absent did not come about. */
export type Told = Pick<CheckResult, "status" | "reason"> &
  Partial<Pick<CheckResult, "runs" | "requests" | "milliseconds" | "counterexample">>

/** The result of a check. */
export const resultOf = (
  { clauses, id, law, level, profile }: Judged,
  {
    status,
    reason,
    runs = { planned: 0, executed: 0, decided: 0 },
    requests = 0,
    milliseconds = 0,
    counterexample
  }: Told
): CheckResult => ({
  id,
  law,
  clauses,
  level,
  profile,
  status,
  reason,
  runs,
  requests,
  milliseconds,
  counterexample
})
