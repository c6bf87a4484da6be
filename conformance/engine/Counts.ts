/** Counts the checks of a run by status, and derives the verdict from the counts. */
import type { CheckResult, Report, Status, Verdict } from "./Report.ts"
import * as WorstStatus from "./WorstStatus.ts"

export const of = (checks: ReadonlyArray<CheckResult>): Report["counts"] => {
  const byStatus = Object.fromEntries(
    WorstStatus.order.map((status) => [status, checks.filter((check) => check.status === status).length])
  ) as { [S in Status]: number } // `order` contains every Status
  const executed = checks.filter(({ runs }) => runs.decided > 0).length
  return { planned: checks.length, executed, ...byStatus }
}

export const verdictOf = (counts: Report["counts"]): Verdict => {
  if (counts.error > 0 || counts.executed === 0) return "error"
  if (counts.fail > 0) return "not-conformant"
  if (counts.inconclusive > 0) return "inconclusive"
  return counts.excluded > 0 ? "selection-passed" : "conformant"
}
