/** Describes checks, one for each clause, without running the suite. */
import { clauses } from "../clauses/Clauses.ts"
import * as Selection from "../engine/Selection.ts"

/** Every check, in the order of a run. */
export const listed = Selection.checks.map(({ level, observable, profile, says, section, slug }) => ({
  id: slug,
  law: says,
  section,
  level,
  profile,
  on: observable
}))

/** Returns the description of a clause; `undefined` if the slug is unknown. */
export const explain = (slug: string): string | undefined => {
  const clause = clauses.find((candidate) => candidate.slug === slug)
  if (clause === undefined) return undefined
  const check = Selection.checks.find((candidate) => candidate.slug === slug)
  return [
    `${slug} (${clause.section}, ${clause.level})`,
    "",
    clause.says,
    "",
    ...(check === undefined
      ? [`Not checked: ${clause.unchecked ?? "no run can show it"}`]
      : [
          `Profile ${check.profile}, on ${check.observable}. Every exchange of a run is judged.`,
          ...(check.optional === undefined ? [] : ["", `It may not apply: ${check.optional}`])
        ])
  ].join("\n")
}
