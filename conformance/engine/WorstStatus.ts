/** The status of several checks together. */
import type { Status } from "./Report.ts"

/** Every status, the worst first. */
export const order = [
  "error",
  "fail",
  "inconclusive",
  "warn",
  "excluded",
  "pass",
  // A clause whose other checks passed was shown.
  "not-applicable"
] as const satisfies ReadonlyArray<Status>

/** The worst of some statuses; `undefined` for none. */
export const of = (all: ReadonlyArray<Status>): Status | undefined =>
  order.find((status) => all.includes(status))
