/** Groups of checks. */

/** All groups, in the order in which they run: what spends, bans or moves time for good comes last. */
export const profiles = ["core", "port", "auth", "limits", "concurrency", "ban", "deprecation"] as const

export type Profile = (typeof profiles)[number]
