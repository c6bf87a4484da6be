/** Lists the profiles: groups of clauses that a user can select. */

/** All profiles in run order. Those that use up limits, cause bans or move time far ahead come last. */
export const profiles = ["core", "port", "auth", "limits", "concurrency", "ban", "deprecation"] as const

export type Profile = (typeof profiles)[number]

/** The profiles by the beginnings of the slugs that belong to them; every other slug belongs to `core`. */
const beginnings: ReadonlyArray<readonly [Profile, RegExp]> = [
  ["port", /^(?:pets|limits-store|keys-store)\./],
  ["concurrency", /^(?:limits\.atomic|create\.concurrent|resources\.linearizable)$/],
  ["deprecation", /^(?:deprecation\.|get\.(?:removed|gone|available-until-removal|deprecation-headers))/],
  ["auth", /^auth\./],
  ["limits", /^limits\./],
  ["ban", /^ban\./]
]

/** Returns the profile of a clause. */
export const ofClause = (slug: string): Profile =>
  beginnings.find(([, pattern]) => pattern.test(slug))?.[0] ?? "core"
