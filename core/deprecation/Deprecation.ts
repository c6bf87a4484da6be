/**
 * Deprecates operations: a deprecation is announced first, and the operation is removed at the sunset (contract §4.3
 * and §9.3). The headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) state both times.
 */
import * as HttpDate from "../codec/HttpDate.ts"
import * as ApiError from "../errors/ApiError.ts"

/** The possible effects of a sunset: the operation returns 410, returns 404, or keeps working ("announce-only"). */
export const removals = ["gone", "not-found", "announce-only"] as const

export type Removal = (typeof removals)[number]

/** When an operation is deprecated and removed, and the effect of its removal. */
export interface Deprecation {
  /** Epoch milliseconds from which the operation is deprecated. */
  readonly announcedAt: number
  /** Epoch milliseconds from which the operation is removed; not before `announcedAt`. */
  readonly sunsetAt: number
  /** The effect of the sunset. */
  readonly afterSunset: Removal
}

/** The phases of an operation: not yet deprecated, deprecated, or removed. */
export type Phase = "active" | "deprecated" | "removed"

/** `GET /pets/{petId}`: deprecated since 20 November 2026, removed on 5 December 2030, 00:00 UTC. */
export const getPet: Deprecation = {
  announcedAt: 1_795_132_800_000,
  sunsetAt: 1_922_659_200_000,
  afterSunset: "gone"
}

/** Returns the phase at `now` (epoch milliseconds); `removed` starts exactly at `sunsetAt`. */
export const phaseAt = (policy: Deprecation, now: number): Phase => {
  if (policy.afterSunset !== "announce-only" && now >= policy.sunsetAt) return "removed"
  return now >= policy.announcedAt ? "deprecated" : "active"
}

/** Returns the error of a removed operation at `now` (epoch milliseconds), or `undefined` while the operation works. */
export const rejectionAt = (policy: Deprecation, now: number): ApiError.ApiError | undefined =>
  rejections[phaseAt(policy, now)](policy.afterSunset)

const rejections: { readonly [phase in Phase]: (removal: Removal) => ApiError.ApiError | undefined } = {
  active: () => undefined,
  deprecated: () => undefined,
  removed: (removal) => removalErrors[removal]
}

const removalErrors: { readonly [removal in Removal]: ApiError.ApiError | undefined } = {
  gone: ApiError.make("operation_removed"),
  "not-found": ApiError.make("not_found"),
  "announce-only": undefined
}

/**
 * Returns the headers of every response of the operation; `successor` is the URL of its replacement, `documentation`
 * the URL of a page about the deprecation.
 */
export const headers = (
  policy: Deprecation,
  successor: string,
  documentation?: string
): ReadonlyArray<readonly [name: string, value: string]> => [
  ["Deprecation", `@${Math.floor(policy.announcedAt / 1000)}`],
  ["Sunset", HttpDate.format(policy.sunsetAt)],
  [
    "Link",
    `<${successor}>; rel="successor-version"${documentation === undefined ? "" : `, <${documentation}>; rel="deprecation"`}`
  ]
]
