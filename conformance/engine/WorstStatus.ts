/** Combines the statuses of several checks into one: the worst. */
import type { Status } from "./Report.ts"

/** All statuses, the worst first. */
export const order = [
  "error",
  "fail",
  "inconclusive",
  "warn",
  "excluded",
  "pass",
  // Last, so that a clause counts as passed if some of its checks passed and the others do not apply.
  "not-applicable"
] as const satisfies ReadonlyArray<Status>

/** Returns the worst of some statuses; `undefined` if there are none. */
export const of = (all: ReadonlyArray<Status>): Status | undefined =>
  order.find((status) => all.includes(status))
