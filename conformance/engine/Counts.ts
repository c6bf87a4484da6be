/** Counts the checks of a run by status, and derives the verdict from the counts. */
import { profiles } from "../clauses/Profile.ts"
import {
  type CheckResult,
  type ProfileResult,
  type Report,
  type Status,
  statuses,
  type Verdict
} from "./Report.ts"

type Counted = Pick<CheckResult, "status" | "decided" | "profile">

export const of = (checks: ReadonlyArray<Counted>): Report["counts"] => {
  const byStatus = Object.fromEntries(
    statuses.map((status) => [status, checks.filter((check) => check.status === status).length])
  ) as { [S in Status]: number } // `statuses` contains every Status
  return { planned: checks.length, decided: checks.filter(({ decided }) => decided > 0).length, ...byStatus }
}

export const verdictOf = (counts: Report["counts"]): Verdict => {
  if (counts.error > 0 || counts.decided === 0) return "error"
  if (counts.fail > 0) return "not-conformant"
  if (counts.inconclusive > 0) return "inconclusive"
  return counts.excluded > 0 ? "selection-passed" : "conformant"
}

/** Returns the results of all profiles that have a planned check, in run order. */
export const byProfile = (checks: ReadonlyArray<Counted>): ReadonlyArray<ProfileResult> =>
  profiles.flatMap((profile) => {
    const ofProfile = checks.filter((check) => check.profile === profile)
    const status = statuses.find((each) => ofProfile.some((check) => check.status === each))
    if (status === undefined) return []
    const passed = ofProfile.filter((check) => check.status === "pass").length
    return [{ profile, planned: ofProfile.length, passed, status }]
  })

/** Returns the profiles that the subject may claim: at least one check passed, and each was decided or does not apply. */
export const claims = (checks: ReadonlyArray<Counted>): Report["claims"] =>
  profiles.filter((profile) => {
    const ofProfile = checks.filter((check) => check.profile === profile)
    return (
      ofProfile.some(({ status }) => status === "pass") &&
      ofProfile.every(({ status }) => status === "pass" || status === "not-applicable")
    )
  })
