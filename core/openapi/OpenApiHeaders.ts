/** Generates `components.headers` of the OpenAPI document, and the references of responses to them. */

import type { Realm } from "../access/Realm.ts"
import * as HttpDate from "../codec/HttpDate.ts"
import type * as Json from "../codec/Json.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Plan from "../limits/Plan.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as Operation from "../operations/Operation.ts"
import * as ServiceOptions from "../service/ServiceOptions.ts"

// A type alias, because interfaces are not assignable to index signatures.
type Header = {
  readonly description: string
  readonly schema: Json.EncodableObject
  readonly example: string | number
  /** Absent if the header is optional. */
  readonly required?: true
}

const rateLimitNames = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const
const standardRateLimitNames = ["RateLimit-Policy", "RateLimit"] as const
const commonNames = ["Date", "Cache-Control", "X-Content-Type-Options", "X-Request-Id"] as const

/** The component name of the header that marks a successful response to a repeated request. */
export const replayed = "Idempotency-Replayed"

/** Returns the component names of the headers that every response of a deprecated operation has. */
export const deprecation = (operation: string): ReadonlyArray<string> =>
  ["Deprecation", "Sunset", "Link-Successor"].map((component) => `${component}.${operation}`)

/**
 * Returns the `headers` object of a response: references to the headers of every response and to `additional`.
 * Components have the name of their header, except that `Link` has one component per relation, and deprecation headers
 * have one per operation.
 */
export const refs = (
  { standardHeaders }: ServiceOptions.ServiceOptions,
  additional: ReadonlyArray<string> = []
): Json.EncodableObject =>
  Object.fromEntries(
    [
      ...rateLimitNames,
      ...(standardHeaders ? standardRateLimitNames : []),
      ...additional,
      ...commonNames
    ].map((component) => [
      component.replace(/[.].*|-(?:Next|Successor).*/, ""),
      { $ref: `#/components/headers/${component}` }
    ])
  )

const text: Json.EncodableObject = { type: "string" }
const constant = (value: string) => ({ schema: { ...text, const: value }, example: value })

const exampleTime = Date.UTC(2030, 0, 1)

type Plans = { readonly [name: string]: Plan.Plan | undefined }

/** Returns a sentence about the plans, if there are any. */
const describePlans = (plans: Plans): string => {
  const texts = Object.entries(plans).map(([name, limits]) =>
    limits === undefined
      ? `${name}: agreed for each key`
      : `${name}: ${limits.perMinute} a minute and ${limits.perDay} a day`
  )
  return texts.length === 0 ? "" : ` ${texts.join("; ")}.`
}

const deprecationDescriptions: { readonly [name: string]: string } = {
  Deprecation: "The time from which the operation is deprecated (RFC 9745).",
  Sunset: "The time of the planned removal of the operation (RFC 8594).",
  Link: "The operation to use instead, and the page about the deprecation, if there is one."
}

/** Returns the header components of all operations. */
export const make = (
  options: ServiceOptions.ServiceOptions,
  operations: ReadonlyArray<Operation.Operation>,
  plans: Plans,
  realm: Realm
): { readonly [component: string]: Header } => {
  const address = ServiceOptions.addresses(options)
  return {
    ...rateLimitHeaders(plans),
    ...(options.standardHeaders ? standardRateLimitHeaders : {}),
    ...errorHeaders(realm),
    ...Object.fromEntries(
      operations.flatMap(({ success }) =>
        Object.entries(success.headers ?? {}).map(([component, { description, example }]) => [
          component,
          { description, schema: text, example: example(address) }
        ])
      )
    ),
    ...(operations.some((operation) => Operation.isIdempotentOn(operation, options)) ? replayHeaders : {}),
    ...commonHeaders,
    ...Object.fromEntries(
      operations.flatMap(({ id, removal }) =>
        removal === undefined
          ? []
          : Deprecation.headers(
              removal.policy(options),
              address(removal.successor),
              options.deprecationUrl
            ).map(([name, value]) => [
              `${name === "Link" ? "Link-Successor" : name}.${id}`,
              { description: deprecationDescriptions[name] ?? name, ...constant(value) }
            ])
      )
    )
  }
}

const replayHeaders: { readonly [component: string]: Header } = {
  [replayed]: {
    description:
      "`true` if an earlier request with this `Idempotency-Key` was executed, whose result this is.",
    schema: text,
    example: "true"
  }
}

const rateLimitHeaders = (plans: Plans): { readonly [component: string]: Header } => ({
  "X-RateLimit-Limit": {
    description:
      "The limit that applies: the number of requests that one window (the minute or the UTC day) allows the " +
      `caller. All three headers describe the same window, the one that restricts the caller more.${describePlans(plans)}`,
    schema: { type: "integer", minimum: 1 },
    example: Plan.standard.Free.perMinute,
    required: true
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in that window after this one.",
    schema: { type: "integer", minimum: 0 },
    example: Plan.standard.Free.perMinute - 1,
    required: true
  },
  "X-RateLimit-Reset": {
    description: "Unix timestamp, in seconds, at which that window is full again or the ban ends.",
    schema: { type: "integer", minimum: 0 },
    example: exampleTime / 1000,
    required: true
  }
})

const { perDay, perMinute } = Plan.standard.Free
const quotas = '"minute";q=N;w=60, "day";q=N;w=86400'
const limits = '"minute";r=N;t=N, "day";r=N;t=N'

const patternOf = (form: string): string =>
  `^${form.replaceAll(";t=N", "(?:;t=N)?").replaceAll("N", "[0-9]+")}$`

const standardRateLimitHeaders: { readonly [component: string]: Header } = {
  "RateLimit-Policy": {
    description:
      "Both windows, as in draft-ietf-httpapi-ratelimit-headers: the number of requests (`q`) that each allows, and " +
      "its length in seconds (`w`).",
    schema: { ...text, pattern: patternOf(quotas) },
    example: quotas.replace("N", String(perMinute)).replace("N", String(perDay)),
    required: true
  },
  RateLimit: {
    description:
      "For both windows: the requests left after this one (`r`), and the seconds until more are allowed (`t`). With " +
      "a 429, `Retry-After` may be longer.",
    schema: { ...text, pattern: patternOf(limits) },
    example: `"minute";r=${perMinute - 1};t=1, "day";r=${perDay - 1};t=43200`,
    required: true
  }
}

/** The `Allow` header of a response to an unsupported method. */
export const allow: Header = {
  description: "The methods that the resource supports.",
  schema: text,
  example: "GET, HEAD, OPTIONS",
  required: true
}

const errorHeaders = ({ name }: Realm): { readonly [component: string]: Header } => ({
  "Retry-After": {
    description:
      "Seconds to wait. A request after this time is admitted if the key sends no request in between. Earlier " +
      "requests can lead to a temporary ban of the key.",
    schema: { type: "integer", minimum: 1, maximum: RateLimit.maxRetryAfter },
    example: 1,
    required: true
  },
  "WWW-Authenticate": {
    description: 'The authentication scheme to use; with `error="invalid_token"` when a credential was sent.',
    schema: text,
    example: `Bearer realm="${name}"`,
    required: true
  },
  Accept: {
    description: "The content type to send; present when another type was sent.",
    ...constant("application/json")
  },
  "Accept-Encoding": {
    description: "The content coding to send; present when the body had a content coding.",
    ...constant("identity")
  }
})

const commonHeaders: { readonly [component: string]: Header } = {
  Date: {
    description: "When the response was created.",
    schema: text,
    example: HttpDate.format(exampleTime),
    required: true
  },
  "Cache-Control": { description: "Responses are not cached.", ...constant("no-store"), required: true },
  "X-Content-Type-Options": {
    description: "Browsers must not guess another content type.",
    ...constant("nosniff"),
    required: true
  },
  "X-Request-Id": {
    description: "Identifies the request in the logs of the service.",
    schema: text,
    example: "6b1f8a0c2d3e4f50-2s",
    required: true
  }
}
