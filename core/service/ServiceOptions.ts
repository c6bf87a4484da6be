/** Defines, validates and completes the options of a service; every option has a default. */
import type * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Plan from "../limits/Plan.ts"
import type { InvalidOption } from "../options/InvalidOption.ts"
import * as Options from "../options/Options.ts"
import * as OptionTable from "../options/OptionTable.ts"
import * as Parse from "../options/Parse.ts"
import * as Rule from "../options/Rule.ts"
import * as TextForm from "../options/TextForm.ts"
import * as Cors from "./Cors.ts"

/** The complete options of a service; `resolve` fills in the defaults. */
export interface ServiceOptions {
  readonly basePath: string
  /** Contract §4 `base_url`. */
  readonly publicBaseUrl: string | undefined
  /** Contract §4 `staging_base_url`. */
  readonly stagingBaseUrl: string | undefined
  readonly strict: boolean
  readonly maxBodyBytes: number
  readonly anonymousPlan: Plan.Plan
  readonly onLimitsUnavailable: "closed" | "open"
  /** With 0, the socket's address is used. */
  readonly trustedProxyHops: number
  readonly corsOrigins: ReadonlyArray<string>
  readonly standardHeaders: boolean
  /** It is also ignored if the store lacks `insertOnce`. */
  readonly idempotencyKeys: boolean
  readonly getPetDeprecation: Deprecation.Deprecation
  /** The link has `rel="deprecation"` (RFC 9745 §3). */
  readonly deprecationUrl: string | undefined
  readonly cursorKey: Uint8Array | undefined
}

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

const PROMISED = "clients of `serve` can rely on the documented value"

/** The options, each with its rule, default, flag and meaning. */
export const table = {
  basePath: OptionTable.programOnly(
    Rule.textWhere(
      (path) => /^(?:\/[A-Za-z0-9._~-]+)*$/.test(path),
      "must be empty or a path such as '/v1', without a trailing slash"
    ),
    {
      summary: "Path before `/pets` in request targets; empty if the host strips it.",
      default: "/v1",
      noFlag: PROMISED
    }
  ),
  publicBaseUrl: OptionTable.flag(baseUrl, {
    summary: "Public URL of the service, such as `https://example.org/v1`; makes links absolute.",
    default: undefined,
    flag: "public-base-url",
    placeholder: "URL"
  }),
  stagingBaseUrl: OptionTable.flag(baseUrl, {
    summary: "Public URL of the staging environment, for the OpenAPI document.",
    default: undefined,
    flag: "staging-base-url",
    placeholder: "URL"
  }),
  strict: OptionTable.flag(Rule.boolean, {
    summary: "Reject unknown body fields and query parameters instead of ignoring them.",
    default: false,
    flag: "strict"
  }),
  maxBodyBytes: OptionTable.programOnly(natural("must be a number of bytes"), {
    summary: "Maximum size of a request body in bytes; a larger body gets 413.",
    default: 65_536,
    noFlag: PROMISED
  }),
  anonymousPlan: OptionTable.programOnly(
    Options.record<Plan.Plan>({
      perMinute: Rule.integer(Plan.bounds),
      perDay: Rule.integer(Plan.bounds)
    }),
    {
      summary: "Rate limits of each client network for requests without a valid key.",
      default: Plan.standard.Free,
      defaultText: "those of the Free plan",
      noFlag: PROMISED
    }
  ),
  onLimitsUnavailable: OptionTable.flag(Rule.oneOf(["closed", "open"]), {
    summary:
      "While limits cannot be checked: `closed` rejects requests with 503, `open` handles them without counting.",
    default: "closed",
    flag: "on-limits-unavailable"
  }),
  trustedProxyHops: OptionTable.flag(
    Rule.written(natural("must be a number of proxies, 0 or more"), TextForm.integer({ min: 0, max: 100 })),
    {
      summary: "Number of trusted proxies that append to `X-Forwarded-For`.",
      default: 0,
      flag: "trusted-proxy-hops"
    }
  ),
  corsOrigins: OptionTable.flag(
    Rule.written(
      Cors.rule,
      TextForm.list("ORIGIN", "spaces", Parse.text, (origins) => origins)
    ),
    {
      summary:
        "Let web pages from these origins, such as `https://shop.example`, read responses (CORS); `*` means all.",
      default: [],
      defaultText: "none",
      flag: "cors-origin"
    }
  ),
  standardHeaders: OptionTable.flag(Rule.boolean, {
    summary: "Send `RateLimit` and `RateLimit-Policy` in addition to the `X-RateLimit` headers.",
    default: true,
    flag: "standard-headers"
  }),
  idempotencyKeys: OptionTable.flag(Rule.boolean, {
    summary: "Obey `Idempotency-Key`, so that a repeated POST creates no second animal.",
    default: true,
    flag: "idempotency-keys"
  }),
  getPetDeprecation: OptionTable.programOnly(
    Options.record<Deprecation.Deprecation>(
      { announcedAt: time, sunsetAt: time, afterSunset: Rule.oneOf(Deprecation.removals) },
      ({ announcedAt, sunsetAt }) => announcedAt <= sunsetAt,
      "must have a sunsetAt that is not before announcedAt (RFC 9745 §4)"
    ),
    {
      summary: "Deprecation and removal of `GET /pets/{petId}`.",
      default: Deprecation.getPet,
      defaultText: "announced 2026-11-20, removed 2030-12-05",
      noFlag: PROMISED
    }
  ),
  deprecationUrl: OptionTable.flag(pageUrl, {
    summary: "Page about deprecated operations; their responses link to it.",
    default: undefined,
    flag: "deprecation-url",
    placeholder: "URL"
  }),
  cursorKey: OptionTable.programOnly(
    Rule.make(
      (value): value is Uint8Array => value instanceof Uint8Array && value.length >= 32,
      "must be a Uint8Array of at least 32 bytes"
    ),
    {
      summary: "Secret that signs cursors.",
      default: undefined,
      defaultText: "a key that the stores share; random in memory",
      noFlag: "the database stores a key for all processes"
    }
  )
} satisfies OptionTable.OptionTable<ServiceOptions>

/** The default options. */
export const defaults: ServiceOptions = OptionTable.defaults<ServiceOptions>(table)

/** Completes the options with the defaults, or fails with the first unknown or invalid option. */
export const resolve = (
  given: Partial<ServiceOptions> | undefined
): Result.Result<ServiceOptions, InvalidOption> => OptionTable.resolve<ServiceOptions>(table, given)
