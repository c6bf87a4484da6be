/** Groups the checks of a run by profile. */
import { profiles } from "../evaluation/Profile.ts"
import type { CheckResult, ProfileResult } from "./Report.ts"
import * as WorstStatus from "./WorstStatus.ts"

/** Returns the results of all profiles that have a planned check, in run order. */
export const of = (
  checks: ReadonlyArray<Pick<CheckResult, "profile" | "status">>
): ReadonlyArray<ProfileResult> =>
  profiles.flatMap((profile) => {
    const statuses = checks.filter((check) => check.profile === profile).map(({ status }) => status)
    const status = WorstStatus.of(statuses)
    if (status === undefined) return []
    return [
      {
        profile,
        planned: statuses.length,
        passed: statuses.filter((result) => result === "pass").length,
        status
      }
    ]
  })
