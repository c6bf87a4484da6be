/** How a service is set up; everything has a default. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Plan from "../limits/Plan.ts"

/** The options of a service, all given; `resolve` completes those of a user. */
export interface ServiceOptions {
  /** Path before `/pets` in the request targets that the service sees; empty when the host strips it. */
  readonly basePath: string
  /** Absolute address that clients reach the base path at (contract §4 `base_url`); makes `Link`, `Location` absolute. */
  readonly publicBaseUrl: string | undefined
  /** The same for the staging environment (contract §4 `staging_base_url`); shown in the OpenAPI document. */
  readonly stagingBaseUrl: string | undefined
  /** Refuses unknown body fields and query parameters instead of ignoring them. */
  readonly strict: boolean
  /** Largest body in bytes. */
  readonly maxBodyBytes: number
  /** Limits of each client network for requests without a valid key. */
  readonly anonymousPlan: Plan.Plan
  /** When limits cannot be checked: refuse with 503 ("closed"), or answer without counting ("open"). */
  readonly onLimitsUnavailable: "closed" | "open"
  /** Proxies in front that append to `X-Forwarded-For`; 0 takes the socket's address. */
  readonly trustedProxyHops: number
  /** Life of `GET /pets/{petId}`. */
  readonly getPetDeprecation: Deprecation.Deprecation
  /** Secret of 32 bytes or more that seals cursors; when absent, the stores' own, or random. */
  readonly cursorKey: Uint8Array | undefined
}

/** What holds for every option that is not given. */
export const defaults: ServiceOptions = {
  basePath: "/v1",
  publicBaseUrl: undefined,
  stagingBaseUrl: undefined,
  strict: false,
  maxBodyBytes: 65_536,
  anonymousPlan: Plan.standard.Free,
  onLimitsUnavailable: "closed",
  trustedProxyHops: 0,
  getPetDeprecation: Deprecation.getPet,
  cursorKey: undefined
}

/** An option that cannot be meant; a mistake of whoever sets the service up. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{
  /** `ban` is no option of `ServiceOptions` but the `BanPolicy` that the service finds in its context. */
  readonly option: keyof ServiceOptions | "ban"
  readonly reason: string
}> {
  override get message(): string {
    return `${this.option}: ${this.reason}`
  }
}

/** The options completed by the defaults, or the first one at fault. */
export const resolve = (options: Partial<ServiceOptions>): Result.Result<ServiceOptions, InvalidOption> => {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const resolved: ServiceOptions = { ...defaults, ...Object.fromEntries(given) }
  for (const [option, isValid, reason] of rules) {
    if (!isValid(resolved)) return Result.fail(new InvalidOption({ option, reason }))
  }
  return Result.succeed(resolved)
}

/** Where clients find the list of animals: absolute when the public address is known, else from the root. */
export const petsAddress = ({ basePath, publicBaseUrl }: ServiceOptions): string =>
  `${publicBaseUrl?.replace(/\/$/, "") ?? basePath}/pets`

type Rule = readonly [
  option: keyof ServiceOptions,
  isValid: (options: ServiceOptions) => boolean,
  reason: string
]

// Printable ASCII without `"`, `<` and `>`, since it stands in headers and within the angle brackets of `Link`.
const isBaseUrl = (url: string | undefined): boolean =>
  url === undefined ||
  (/^https?:\/\/[^/?#]+(?:\/[^?#]*)?$/.test(url) && /^[!-~]+$/.test(url) && !/["<>]/.test(url))

const isTime = (epochMs: number): boolean => Math.abs(epochMs) <= 8.64e15

const isLife = ({ afterSunset, announcedAt, sunsetAt }: Deprecation.Deprecation): boolean =>
  isTime(announcedAt) &&
  isTime(sunsetAt) &&
  announcedAt <= sunsetAt &&
  Deprecation.removals.includes(afterSunset)

const isNatural = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const rules: ReadonlyArray<Rule> = [
  [
    "basePath",
    ({ basePath }) => /^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath),
    "must be empty or a path such as '/v1', without a trailing slash"
  ],
  [
    "publicBaseUrl",
    ({ publicBaseUrl }) => isBaseUrl(publicBaseUrl),
    "must be an absolute http(s) address without query"
  ],
  [
    "stagingBaseUrl",
    ({ stagingBaseUrl }) => isBaseUrl(stagingBaseUrl),
    "must be an absolute http(s) address without query"
  ],
  ["maxBodyBytes", ({ maxBodyBytes }) => isNatural(maxBodyBytes), "must be a number of bytes"],
  [
    "anonymousPlan",
    ({ anonymousPlan }) => Plan.isValid(anonymousPlan),
    `must have perMinute and perDay between 1 and ${Plan.maxRequests}`
  ],
  [
    "onLimitsUnavailable",
    ({ onLimitsUnavailable }) => onLimitsUnavailable === "closed" || onLimitsUnavailable === "open",
    'must be "closed" or "open"'
  ],
  [
    "trustedProxyHops",
    ({ trustedProxyHops }) => isNatural(trustedProxyHops),
    "must be a number of proxies, 0 or more"
  ],
  [
    "getPetDeprecation",
    ({ getPetDeprecation }) => isLife(getPetDeprecation),
    `must have two dates, the announcement not after the sunset (RFC 9745 §4), and afterSunset one of ${Deprecation.removals.join(", ")}`
  ],
  [
    "cursorKey",
    ({ cursorKey }) => cursorKey === undefined || (cursorKey instanceof Uint8Array && cursorKey.length >= 32),
    "must have at least 32 bytes, in a Uint8Array"
  ]
]
