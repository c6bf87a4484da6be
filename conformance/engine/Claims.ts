/** Determines the profiles that a subject may claim after a run, such as "conformant: core, auth". */
import { type Profile, profiles } from "../evaluation/Profile.ts"
import type { CheckResult, Status } from "./Report.ts"

/** Statuses that do not contradict a claim. */
const harmless: ReadonlyArray<Status> = ["pass", "warn", "not-applicable"]

/** Returns the profiles in which at least one check passed, and none failed, was undecided or was excluded. */
export const of = (checks: ReadonlyArray<Pick<CheckResult, "profile" | "status">>): ReadonlyArray<Profile> =>
  profiles.filter((profile) => {
    const own = checks.filter((check) => check.profile === profile)
    return own.some(({ status }) => status === "pass") && own.every(({ status }) => harmless.includes(status))
  })
