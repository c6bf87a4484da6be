/** Options of a service; every option has a default. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Plan from "../limits/Plan.ts"

/** The complete options of a service; `resolve` fills in the defaults. */
export interface ServiceOptions {
  /** Path before `/pets` in request targets; empty if the host strips it. */
  readonly basePath: string
  /** Public URL of the base path (contract §4 `base_url`); makes `Link` and `Location` absolute. */
  readonly publicBaseUrl: string | undefined
  /** URL of the staging environment (contract §4 `staging_base_url`), listed in the OpenAPI document. */
  readonly stagingBaseUrl: string | undefined
  /** Rejects unknown body fields and query parameters instead of ignoring them. */
  readonly strict: boolean
  /** Maximum size of a request body in bytes. */
  readonly maxBodyBytes: number
  /** Rate limits of each client network for requests without a valid key. */
  readonly anonymousPlan: Plan.Plan
  /** When the rate limit store is unavailable: respond with 503 ("closed"), or admit requests uncounted ("open"). */
  readonly onLimitsUnavailable: "closed" | "open"
  /** Number of trusted proxies that append to `X-Forwarded-For`; 0 uses the socket's address. */
  readonly trustedProxyHops: number
  /** Deprecation and removal of `GET /pets/{petId}`. */
  readonly getPetDeprecation: Deprecation.Deprecation
  /** Secret of at least 32 bytes that signs cursors; by default the stores' shared key, otherwise a random key. */
  readonly cursorKey: Uint8Array | undefined
}

/** The default options. */
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

/** An option has an invalid value. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{
  /** The option's name; `ban` stands for the `BanPolicy` in the context. */
  readonly option: keyof ServiceOptions | "ban"
  readonly reason: string
}> {
  override get message(): string {
    return `${this.option}: ${this.reason}`
  }
}

/** Completes the options with the defaults, or fails with the first invalid option. */
export const resolve = (options: Partial<ServiceOptions>): Result.Result<ServiceOptions, InvalidOption> => {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const resolved: ServiceOptions = { ...defaults, ...Object.fromEntries(given) }
  for (const [option, isValid, reason] of rules) {
    if (!isValid(resolved)) return Result.fail(new InvalidOption({ option, reason }))
  }
  return Result.succeed(resolved)
}

/** Returns a function from a path below the base path to its URL: absolute if `publicBaseUrl` is set, else a path. */
export const addresses = ({ basePath, publicBaseUrl }: ServiceOptions): ((path: string) => string) => {
  const base = publicBaseUrl?.replace(/\/$/, "") ?? basePath
  return (path) => base + path
}

type Rule = readonly [
  option: keyof ServiceOptions,
  isValid: (options: ServiceOptions) => boolean,
  reason: string
]

// Printable ASCII without `"`, `<` and `>`, because the URL appears in headers and between the angle brackets of
// `Link`.
const isBaseUrl = (url: string | undefined): boolean =>
  url === undefined ||
  (/^https?:\/\/[^/?#]+(?:\/[^?#]*)?$/.test(url) && /^[!-~]+$/.test(url) && !/["<>]/.test(url))

const isTime = (epochMs: number): boolean => Math.abs(epochMs) <= 8.64e15

const isDeprecation = ({ afterSunset, announcedAt, sunsetAt }: Deprecation.Deprecation): boolean =>
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
    "must be an absolute http(s) URL without query"
  ],
  [
    "stagingBaseUrl",
    ({ stagingBaseUrl }) => isBaseUrl(stagingBaseUrl),
    "must be an absolute http(s) URL without query"
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
    ({ getPetDeprecation }) => isDeprecation(getPetDeprecation),
    `must have two dates, the announcement not after the sunset (RFC 9745 §4), and one of these as afterSunset: ${Deprecation.removals.join(", ")}`
  ],
  [
    "cursorKey",
    ({ cursorKey }) => cursorKey === undefined || (cursorKey instanceof Uint8Array && cursorKey.length >= 32),
    "must be a Uint8Array of at least 32 bytes"
  ]
]
