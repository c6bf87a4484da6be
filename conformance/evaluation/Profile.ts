/** Lists the profiles: groups of checks that a user can select. */

/** All profiles in run order. Checks that use up limits, cause bans or move time far ahead come last. */
export const profiles = ["core", "port", "auth", "limits", "concurrency", "ban", "deprecation"] as const

export type Profile = (typeof profiles)[number]
