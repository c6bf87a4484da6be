/** `components.headers` of the OpenAPI document, and which of them a response declares. */
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as HttpDate from "../deprecation/HttpDate.ts"
import * as Page from "../domain/Page.ts"
import * as Plan from "../limits/Plan.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import type { JsonObject } from "./OpenApiSchemas.ts"
import * as ServiceOptions from "./ServiceOptions.ts"

// An alias, as interfaces are not assignable to index signatures.
type Header = {
  readonly description: string
  readonly schema: JsonObject
  readonly example: string | number
  /** Absent: the response may come without it. */
  readonly required?: true
}

/** Components are named after their header; `Link` has one for each relation. */
export type HeaderName = keyof ReturnType<typeof lasting> | (typeof deprecation)[number]

const rateLimit = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const
const always = ["Date", "Cache-Control", "X-Content-Type-Options", "X-Request-Id"] as const

/** What every answer of the deprecated operation carries besides. */
export const deprecation = ["Deprecation", "Sunset", "Link-Successor"] as const

/** The `headers` of a response: those that every response carries, and `more`. */
export const refs = (more: ReadonlyArray<HeaderName> = []): JsonObject =>
  Object.fromEntries(
    [...rateLimit, ...more, ...always].map((component) => [
      component.replace(/^Link-.*/, "Link"),
      { $ref: `#/components/headers/${component}` }
    ])
  )

const text: JsonObject = { type: "string" }
const constant = (value: string) => ({ schema: { ...text, const: value }, example: value })

const exampleTime = Date.UTC(2030, 0, 1)

const plans = Plan.names.map((name) => {
  if (name === "Enterprise") return `${name}: agreed for each key`
  const { perDay, perMinute } = Plan.standard[name]
  return `${name}: ${perMinute} a minute and ${perDay} a day`
})

const deprecationDescriptions: { readonly [name: string]: string } = {
  Deprecation: "Since when the operation is deprecated (RFC 9745).",
  Sunset: "When the operation is to be removed (RFC 8594).",
  Link: "The operation to use instead."
}

export const make = (options: ServiceOptions.ServiceOptions): { readonly [component: string]: Header } => {
  const pets = ServiceOptions.petsAddress(options)
  const deprecated = Deprecation.headers(options.getPetDeprecation, pets).map(([name, value]) => [
    name === "Link" ? "Link-Successor" : name,
    { description: deprecationDescriptions[name] ?? name, ...constant(value) }
  ])
  return { ...lasting(pets), ...Object.fromEntries(deprecated) }
}

const lasting = (pets: string) =>
  ({
    "X-RateLimit-Limit": {
      description:
        "The limit in force: requests that one window, the minute or the UTC day, grants the caller. All three " +
        `headers describe the same window, the one that ends the caller's requests first. ${plans.join("; ")}.`,
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
    },
    "Retry-After": {
      description:
        "Seconds to wait. A request sent after them is admitted if the key sent none in between; going on earlier " +
        "can lead to a temporary ban of the key.",
      schema: { type: "integer", minimum: 1, maximum: RateLimit.maxRetryAfter },
      example: 1,
      required: true
    },
    "WWW-Authenticate": {
      description: 'The scheme to use; with `error="invalid_token"` when a credential was sent.',
      schema: text,
      example: 'Bearer realm="animals"',
      required: true
    },
    Allow: {
      description: "The methods that the resource supports.",
      schema: text,
      example: "GET, HEAD, OPTIONS",
      required: true
    },
    Accept: {
      description: "The content type to send; present when another one was sent.",
      ...constant("application/json")
    },
    "Accept-Encoding": {
      description: "The content coding to send; present when the body was sent with one.",
      ...constant("identity")
    },
    Location: {
      description: "Address of the created animal, as long as `getPet` is not removed.",
      schema: text,
      example: `${pets}/1`
    },
    "Link-Next": {
      description: 'Address of the next page, with `rel="next"`; absent on the last page.',
      schema: text,
      example: `<${pets}?limit=${Page.limit.default}&cursor=00000000000000148f14e45fceea167a>; rel="next"`
    },
    Date: {
      description: "When the response was made.",
      schema: text,
      example: HttpDate.format(exampleTime),
      required: true
    },
    "Cache-Control": { description: "Responses are not cached.", ...constant("no-store"), required: true },
    "X-Content-Type-Options": {
      description: "The body is what its content type says.",
      ...constant("nosniff"),
      required: true
    },
    "X-Request-Id": {
      description: "Identifies the request in the logs of the service.",
      schema: text,
      example: "6b1f8a0c2d3e4f50-2s",
      required: true
    }
  }) as const satisfies { readonly [name: string]: Header }
