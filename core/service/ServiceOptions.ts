/** Defines, validates and completes the options of a service; every option has a default. */
import * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Plan from "../limits/Plan.ts"
import type { InvalidOption } from "../options/InvalidOption.ts"
import * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"
import * as Cors from "./Cors.ts"

/** The complete options of a service; `resolve` fills in the defaults. */
export interface ServiceOptions {
  /** Path before `/pets` in request targets; empty if the host strips it. */
  readonly basePath: string
  /** Public URL of the base path (contract §4 `base_url`); makes `Link` and `Location` absolute. */
  readonly publicBaseUrl: string | undefined
  /** URL of the staging environment (contract §4 `staging_base_url`), listed in the OpenAPI document. */
  readonly stagingBaseUrl: string | undefined
  /** Whether unknown body fields and query parameters are rejected instead of ignored. */
  readonly strict: boolean
  /** Maximum size of a request body in bytes. */
  readonly maxBodyBytes: number
  /** Rate limits of each client network for requests without a valid key. */
  readonly anonymousPlan: Plan.Plan
  /** If the rate limit store is unavailable: respond with 503 ("closed"), or admit requests uncounted ("open"). */
  readonly onLimitsUnavailable: "closed" | "open"
  /** Number of trusted proxies that append to `X-Forwarded-For`; with 0, the socket's address is used. */
  readonly trustedProxyHops: number
  /**
   * Origins of web pages that may read responses (CORS), such as `https://shop.example`; `["*"]` allows all origins.
   * Empty by default.
   */
  readonly corsOrigins: ReadonlyArray<string>
  /** Whether `RateLimit` and `RateLimit-Policy` are sent in addition to the rate headers of the contract. */
  readonly standardHeaders: boolean
  /** Whether `Idempotency-Key` is obeyed; it is ignored if this is `false`, or if the store lacks `insertOnce`. */
  readonly idempotencyKeys: boolean
  /** Deprecation and removal of `GET /pets/{petId}`. */
  readonly getPetDeprecation: Deprecation.Deprecation
  /** URL of a page about deprecated operations, to which their responses link as `rel="deprecation"` (RFC 9745 §3). */
  readonly deprecationUrl: string | undefined
  /** Secret of at least 32 bytes that signs cursors; by default the key that the stores share, or a random key. */
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
  corsOrigins: [],
  standardHeaders: true,
  idempotencyKeys: true,
  getPetDeprecation: Deprecation.getPet,
  deprecationUrl: undefined,
  cursorKey: undefined
}

/** Completes the options with the defaults, or fails with the first unknown or invalid option. */
export const resolve = (
  given: Partial<ServiceOptions> | undefined
): Result.Result<ServiceOptions, InvalidOption> =>
  Result.map(Options.check(rules, given), (present) => ({ ...defaults, ...present }))

/** Returns a function from a path below the base path to its URL, which is a path unless `publicBaseUrl` is set. */
export const addresses = ({ basePath, publicBaseUrl }: ServiceOptions): ((path: string) => string) => {
  const base = publicBaseUrl?.replace(/\/$/, "") ?? basePath
  return (path) => base + path
}

// Printable ASCII without `"`, `<` and `>`, because the URL is sent in headers, and between angle brackets in `Link`.
const isHeaderText = (url: string): boolean => /^[!-~]+$/.test(url) && !/["<>]/.test(url)

const baseUrl = Rule.textWhere(
  (url) => /^https?:\/\/[^/?#]+(?:\/[^?#]*)?$/.test(url) && isHeaderText(url),
  "must be an absolute http(s) URL without a query"
)

const pageUrl = Rule.textWhere(
  (url) => /^https?:\/\/[^/?#]+(?:[/?#].*)?$/.test(url) && isHeaderText(url),
  "must be an absolute http(s) URL"
)

const isTime = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= 8.64e15

const time = Rule.make(isTime, "must be a time in epoch milliseconds")

const natural = (reason: string): Rule.Rule<number> =>
  Rule.make((value): value is number => Number.isSafeInteger(value) && Number(value) >= 0, reason)

/** The rule of each option. */
export const rules: Options.Rules<ServiceOptions> = {
  basePath: Rule.textWhere(
    (path) => /^(?:\/[A-Za-z0-9._~-]+)*$/.test(path),
    "must be empty or a path such as '/v1', without a trailing slash"
  ),
  publicBaseUrl: baseUrl,
  stagingBaseUrl: baseUrl,
  strict: Rule.boolean,
  maxBodyBytes: natural("must be a number of bytes"),
  anonymousPlan: Options.record<Plan.Plan>({
    perMinute: Rule.integer(Plan.bounds),
    perDay: Rule.integer(Plan.bounds)
  }),
  onLimitsUnavailable: Rule.oneOf(["closed", "open"]),
  trustedProxyHops: natural("must be a number of proxies, 0 or more"),
  corsOrigins: Cors.rule,
  standardHeaders: Rule.boolean,
  idempotencyKeys: Rule.boolean,
  getPetDeprecation: Options.record<Deprecation.Deprecation>(
    { announcedAt: time, sunsetAt: time, afterSunset: Rule.oneOf(Deprecation.removals) },
    ({ announcedAt, sunsetAt }) => announcedAt <= sunsetAt,
    "must have a sunsetAt that is not before announcedAt (RFC 9745 §4)"
  ),
  deprecationUrl: pageUrl,
  cursorKey: Rule.make(
    (value): value is Uint8Array => value instanceof Uint8Array && value.length >= 32,
    "must be a Uint8Array of at least 32 bytes"
  )
}
