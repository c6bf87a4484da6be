/** Returns why a run over HTTP did not decide a check. */
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import { capabilities } from "../subjects/Subject.ts"
import type { Completed } from "./JudgedRun.ts"
import { inconclusive, notApplicable, UNTRIED, type Undecided } from "./Results.ts"
import type { Check } from "./Selection.ts"

/** Returns the most important reason; `undefined` if there is none. */
export const reasonFor = (
  { level, profile, slug }: Pick<Check, "level" | "profile" | "slug">,
  { errors, programs, stopped }: Pick<Completed, "errors" | "programs" | "stopped">,
  { capabilities: has, exchanges, target }: Pick<HttpSubject, "capabilities" | "exchanges" | "target">
): Undecided | undefined => {
  if (profile === "ban" && target.declared?.bans === false)
    return notApplicable("the subject declares that it never bans")
  const own = programs.filter((program) => program.profile === profile)
  const firstOf = (reasons: ReadonlyMap<string, string>) =>
    own.map(({ name }) => reasons.get(name)).find((reason) => reason !== undefined)
  const error = firstOf(errors)
  if (error !== undefined) return { status: "error", reason: error }
  const reason = firstOf(stopped)
  if (reason !== undefined) return inconclusive(reason)
  const missing = [...new Set(own.flatMap(({ needs = [] }) => needs))].filter((need) => !has.has(need))
  if (missing.length > 0)
    return inconclusive(`it needs ${missing.map((need) => capabilities[need]).join(" and ")}`)
  // Without such a key, the clause does not apply.
  if (
    (slug === "auth.revoked" && has.has("revokedKey")) ||
    (slug === "auth.expired" && has.has("expiredKey"))
  )
    return inconclusive(UNTRIED)
  const isExact = exchanges.every(({ from, to }) => from === to)
  return level === "design" && /^(?:limits|ban)\./.test(slug) && !isExact
    ? notApplicable("the times of requests are not known to the millisecond")
    : undefined
}
