/**
 * The life of a deprecated operation: announced, then removed at its sunset (contract §4.3 and §9.3; headers by
 * RFC 9745 `Deprecation` and RFC 8594 `Sunset`).
 */
import * as HttpDate from "./HttpDate.ts"

/** What an operation answers from its sunset on: 410, 404, or as before because the date is only announced. */
export const removals = ["gone", "not-found", "announce-only"] as const

/** The dates of one operation. */
export interface Deprecation {
  /** Epoch milliseconds (UTC) since which the operation is deprecated. */
  readonly announcedAt: number
  /** Epoch milliseconds (UTC) from which the operation is removed; not before `announcedAt`. */
  readonly sunsetAt: number
  /** What the operation answers from its sunset on. */
  readonly afterSunset: (typeof removals)[number]
}

/** Where an operation stands: not yet announced, announced, or no longer carried out. */
export type Phase = "active" | "deprecated" | "removed"

/** `GET /pets/{petId}`: deprecated since 20 November 2026, removed on 5 December 2030, 00:00 UTC. */
export const getPet: Deprecation = {
  announcedAt: 1_795_132_800_000,
  sunsetAt: 1_922_659_200_000,
  afterSunset: "gone"
}

/** The phase at `now` (epoch milliseconds, UTC); `removed` begins with the very millisecond of `sunsetAt`. */
export const phaseAt = (policy: Deprecation, now: number): Phase => {
  if (policy.afterSunset !== "announce-only" && now >= policy.sunsetAt) return "removed"
  return now >= policy.announcedAt ? "deprecated" : "active"
}

/** The headers of every answer of the operation; `successor` is the path of the operation that replaces it. */
export const headers = (
  policy: Deprecation,
  successor: string
): ReadonlyArray<readonly [name: string, value: string]> => [
  ["Deprecation", `@${Math.floor(policy.announcedAt / 1000)}`],
  ["Sunset", HttpDate.format(policy.sunsetAt)],
  ["Link", `<${successor}>; rel="successor-version"`]
]
