/** Defines, validates and completes the options of a service; every option has a default. */
import type * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as OwnErrors from "../errors/OwnErrors.ts"
import * as Plan from "../limits/Plan.ts"
import type { InvalidOption } from "../options/InvalidOption.ts"
import * as Options from "../options/Options.ts"
import * as OptionTable from "../options/OptionTable.ts"
import * as Rule from "../options/Rule.ts"
import * as Cors from "./Cors.ts"

/** The complete options of a service; `resolve` fills in the defaults. */
export interface ServiceOptions {
  /** Path before `/pets`, after the path where Express or Connect mounts the service. Empty for none. */
  readonly basePath: string
  /** Public URL of the service, such as `https://example.org/v1`; makes links absolute. Contract §4 `base_url`. */
  readonly publicBaseUrl: string | undefined
  /** Public URL of the staging environment, for the OpenAPI document. Contract §4 `staging_base_url`. */
  readonly stagingBaseUrl: string | undefined
  /** Reject unknown body fields and query parameters instead of ignoring them. */
  readonly strict: boolean
  /** Maximum size of a request body in bytes; a larger body gets 413. */
  readonly maxBodyBytes: number
  /** Rate limits of each client network for requests without a valid key. */
  readonly anonymousPlan: Plan.Plan
  /** While limits cannot be checked: `closed` rejects requests with 503, `open` handles them without counting. */
  readonly onLimitsUnavailable: "closed" | "open"
  /** Number of trusted proxies that append to `X-Forwarded-For`. With 0, the socket's address is used. */
  readonly trustedProxyHops: number
  /**
   * Header in which clients send their own id of a request, such as `X-Correlation-Id`, for the access log. Not a header
   * that carries credentials.
   */
  readonly requestIdHeader: string | undefined
  /** Let web pages from these origins, such as `https://shop.example`, read responses (CORS); `*` means all. */
  readonly corsOrigins: ReadonlyArray<string>
  /** Send `RateLimit` and `RateLimit-Policy` in addition to the `X-RateLimit` headers. */
  readonly standardHeaders: boolean
  /**
   * Obey `Idempotency-Key`, so that a repeated POST creates no second animal. The header is also ignored if the store
   * lacks `insertOnce`.
   */
  readonly idempotencyKeys: boolean
  /** Deprecation and removal of `GET /pets/{petId}`. */
  readonly getPetDeprecation: Deprecation.Deprecation
  /** Page about deprecated operations; their responses link to it. The link is `rel="deprecation"` (RFC 9745 §3). */
  readonly deprecationUrl: string | undefined
  /** Errors of your own operations, by code, such as `{ order_unknown: { status: 404, meaning: "…" } }`. */
  readonly errors: OwnErrors.OwnErrors
  /** Secret of at least 32 bytes that signs cursors; by default the key that the stores share, or a random key. */
  readonly cursorKey: Uint8Array | undefined
}

// Printable ASCII without `"`, `<` and `>`, because the URL is sent in headers, and between angle brackets in `Link`.
const isHeaderText = (url: string): boolean => /^[!-~]+$/.test(url) && !/["<>]/.test(url)

const baseUrl = Rule.textWhere(
  (url) => /^https?:\/\/[^/?#]+(?:\/[^?#]*)?$/.test(url) && isHeaderText(url),
  "must be an absolute http(s) URL without a query",
  "URL"
)

const pageUrl = Rule.textWhere(
  (url) => /^https?:\/\/[^/?#]+(?:[/?#].*)?$/.test(url) && isHeaderText(url),
  "must be an absolute http(s) URL",
  "URL"
)

const isTime = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= 8.64e15

const time = Rule.make(isTime, "must be a time in epoch milliseconds")

const natural = (reason: string): Rule.Rule<number> =>
  Rule.make((value): value is number => Number.isSafeInteger(value) && Number(value) >= 0, reason)

// A flag with more proxies than this is a mistake; programs may set any number.
const hops: Rule.TextRule<number> = {
  ...Rule.integer({ min: 0, max: 100 }),
  ...natural("must be a number of proxies, 0 or more")
}

const headerName = Rule.textWhere(
  (name) =>
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) &&
    !/^(?:authorization|proxy-authorization|cookie)$/i.test(name),
  "must be the name of a header that carries no credentials, such as X-Correlation-Id",
  "NAME"
)

const origins = {
  ...Cors.rule,
  ...Rule.listForm("ORIGIN", "spaces", Rule.parseText, (given) => given)
}

const PROMISED = "clients of `serve` can rely on the documented value"

/** The rule, the default and the flag of each option. */
export const table = {
  basePath: OptionTable.programOnly(
    Rule.textWhere(
      (path) => /^(?:\/[A-Za-z0-9._~-]+)*$/.test(path),
      "must be empty or a path such as '/v1', without a trailing slash"
    ),
    "/v1",
    PROMISED
  ),
  publicBaseUrl: OptionTable.flag("public-base-url", baseUrl, undefined),
  stagingBaseUrl: OptionTable.flag("staging-base-url", baseUrl, undefined),
  strict: OptionTable.flag("strict", Rule.boolean, false),
  maxBodyBytes: OptionTable.programOnly(natural("must be a number of bytes"), 65_536, PROMISED),
  anonymousPlan: OptionTable.programOnly(
    Options.record<Plan.Plan>({
      perMinute: Rule.integer(Plan.bounds),
      perDay: Rule.integer(Plan.bounds)
    }),
    Plan.standard.Free,
    PROMISED,
    "the Free plan"
  ),
  onLimitsUnavailable: OptionTable.flag("on-limits-unavailable", Rule.oneOf(["closed", "open"]), "closed"),
  trustedProxyHops: OptionTable.flag("trusted-proxy-hops", hops, 0),
  requestIdHeader: OptionTable.flag("request-id-header", headerName, undefined),
  corsOrigins: OptionTable.flag("cors-origin", origins, []),
  standardHeaders: OptionTable.flag("standard-headers", Rule.boolean, true),
  idempotencyKeys: OptionTable.flag("idempotency-keys", Rule.boolean, true),
  getPetDeprecation: OptionTable.programOnly(
    Options.record<Deprecation.Deprecation>(
      { announcedAt: time, sunsetAt: time, afterSunset: Rule.oneOf(Deprecation.removals) },
      ({ announcedAt, sunsetAt }) => announcedAt <= sunsetAt,
      "must have a sunsetAt that is not before announcedAt (RFC 9745 §4)"
    ),
    Deprecation.getPet,
    PROMISED,
    "announced 2026-11-20, removed 2030-12-05"
  ),
  deprecationUrl: OptionTable.flag("deprecation-url", pageUrl, undefined),
  errors: OptionTable.programOnly(OwnErrors.rule, {}, "`serve` has no operations of its own"),
  cursorKey: OptionTable.programOnly(
    Rule.make(
      (value): value is Uint8Array => value instanceof Uint8Array && value.length >= 32,
      "must be a Uint8Array of at least 32 bytes"
    ),
    undefined,
    "the database stores a key for all processes"
  )
} satisfies OptionTable.OptionTable<ServiceOptions>

/** The default options. */
export const defaults: ServiceOptions = OptionTable.defaults<ServiceOptions>(table)

/** Completes the options with the defaults, or fails with the first unknown or invalid option. */
export const resolve = (
  given: Partial<ServiceOptions> | undefined
): Result.Result<ServiceOptions, InvalidOption> => OptionTable.resolve<ServiceOptions>(table, given)

/**
 * Returns a function from a path below the base path to its URL, which is a path unless `publicBaseUrl` is set. `prefix`
 * is the path of the host before the base path.
 */
export const addresses = (
  { basePath, publicBaseUrl }: ServiceOptions,
  prefix = ""
): ((path: string) => string) => {
  const base = publicBaseUrl?.replace(/\/$/, "") ?? prefix + basePath
  return (path) => base + path
}
