/** Creates the results of checks for a report. */
import type { Check } from "../checks/Check.ts"
import type { CheckResult } from "./Report.ts"

/** The fields of a check that a report contains. */
export type CheckFields = Pick<Check, "id" | "law" | "clauses" | "level" | "profile">

/** The outcome of a check; absent members are zero or undefined in the result. */
export type CheckOutcome = Pick<CheckResult, "status" | "reason"> &
  Partial<
    Pick<CheckResult, "isPostponed" | "runs" | "requests" | "milliseconds" | "counterexample" | "coverage">
  >

export const resultOf = (
  { clauses, id, law, level, profile }: CheckFields,
  {
    status,
    reason,
    isPostponed,
    runs = { planned: 0, executed: 0, decided: 0 },
    requests = 0,
    milliseconds = 0,
    counterexample,
    coverage
  }: CheckOutcome
): CheckResult => ({
  id,
  law,
  clauses,
  level,
  profile,
  status,
  reason,
  ...(isPostponed === true ? { isPostponed } : {}),
  runs,
  requests,
  milliseconds,
  counterexample,
  coverage
})
