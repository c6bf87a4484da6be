/** Determines the profiles that a subject may claim after a run, such as "conformant: core, auth". */
import { type Profile, profiles } from "../evaluation/Profile.ts"
import type { CheckResult, Status } from "./Report.ts"

/** Statuses that do not contradict a claim. */
const harmless: ReadonlyArray<Status> = ["pass", "warn", "not-applicable"]

type Claimed = Pick<CheckResult, "profile" | "status" | "isPostponed">

/**
 * Returns the profiles in which at least one check passed and none blocks the claim. Failed, undecided and excluded
 * checks block it, and so do checks that were not applicable only because of the subject's time or data. Checks that do
 * not apply because of the subject's declarations or choices do not block it.
 */
export const of = (checks: ReadonlyArray<Claimed>): ReadonlyArray<Profile> =>
  profiles.filter((profile) => {
    const checksOfProfile = checks.filter((check) => check.profile === profile)
    const isDecided = ({ isPostponed = false, status }: Claimed) => harmless.includes(status) && !isPostponed
    return checksOfProfile.some(({ status }) => status === "pass") && checksOfProfile.every(isDecided)
  })
