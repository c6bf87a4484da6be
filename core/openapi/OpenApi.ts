/**
 * Generates the OpenAPI 3.1 document from the values that the service uses: operations, schemas, limits, plans,
 * deprecation policy and error catalogue.
 */

import * as Realm from "../access/Realm.ts"
import * as HttpDate from "../codec/HttpDate.ts"
import * as Json from "../codec/Json.ts"
import type * as Deprecation from "../deprecation/Deprecation.ts"
import type { ErrorCode } from "../errors/ErrorCatalogue.ts"
import * as IdempotencyKey from "../idempotency/IdempotencyKey.ts"
import type { OwnPlans } from "../limits/OwnPlans.ts"
import * as Plan from "../limits/Plan.ts"
import * as Operation from "../operations/Operation.ts"
import * as Schemas from "../operations/Schemas.ts"
import * as Router from "../service/Router.ts"
import type * as ServiceOptions from "../service/ServiceOptions.ts"
import * as OpenApiHeaders from "./OpenApiHeaders.ts"
import * as OpenApiResponses from "./OpenApiResponses.ts"

/** Returns the document as JSON text, with int64 values as numbers. */
export const json = (
  options: ServiceOptions.ServiceOptions,
  operations: ReadonlyArray<Operation.Operation>,
  plans: OwnPlans = {},
  realm: Realm.Realm = Realm.animals
): string => Json.stringify(document(options, operations, plans, realm))

/**
 * Returns a function that formats the document for an origin of the service, and the path of the host before the base
 * path. Without `publicBaseUrl`, the URL of the first server is a path. If the origin is known and no proxy is trusted,
 * the URL is absolute, because many client generators need an absolute URL.
 */
export const formatter = (
  options: ServiceOptions.ServiceOptions,
  operations: ReadonlyArray<Operation.Operation>,
  plans: OwnPlans,
  realm: Realm.Realm
): ((origin: string | undefined, prefix?: string) => string) => {
  const text = json(options, operations, plans, realm)
  const urlStart = text.indexOf(FIRST_SERVER) + FIRST_SERVER.length
  const { basePath, publicBaseUrl, trustedProxyHops } = options
  const afterUrl = text.slice(urlStart + (basePath === "" ? ROOT.length : 0))
  return (origin, prefix = "") => {
    if (publicBaseUrl !== undefined) return text
    // Behind a proxy, only the operator knows the address that clients use.
    const start = (trustedProxyHops === 0 ? (origin ?? "") : "") + prefix
    return start === "" ? text : text.slice(0, urlStart) + start + afterUrl
  }
}

/** The server URL if there is no base path. Omitted after an origin, because every path begins with a slash. */
const ROOT = "/"

const FIRST_SERVER = '"servers":[{"url":"'

/** Returns the document as a value. Its int64 examples are `bigint`, so that only `Json.stringify` can encode it. */
export const document = (
  options: ServiceOptions.ServiceOptions,
  operations: ReadonlyArray<Operation.Operation>,
  plans: OwnPlans,
  realm: Realm.Realm
): Json.EncodableObject => ({
  openapi: "3.1.0",
  info: {
    ...realm.info,
    description: `${realm.info.description} Unknown query parameters and body fields are ${options.strict ? "rejected" : "ignored"}.`,
    version: "1.0.0",
    contact: { name: "The operator of this service" },
    license: { name: "MIT", identifier: "MIT" }
  },
  servers: servers(options),
  security: [{ apiKey: [] }],
  tags: [...new Set(operations.map(tagOf))].map((name) =>
    name === ANIMALS ? { name, description: "The animals in the store." } : { name }
  ),
  paths: Object.fromEntries(
    Router.resourcesOf(operations).map((resource) => [resource.path, pathItem(resource, options)])
  ),
  components: {
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        description: Realm.inWordsOf(realm, "The API key, sent as `Authorization: Bearer <API_KEY>`.")
      }
    },
    schemas: Object.assign(schemasOf(options, realm), ...operations.map(({ schemas }) => schemas)),
    headers: OpenApiHeaders.make(options, operations, { ...plansOf(realm), ...plans }, realm),
    responses: OpenApiResponses.shared(options, realm)
  }
})

/** Only the realm of the contract has its plans, and animals. */
const plansOf = ({ name }: Realm.Realm) => (name === "animals" ? Plan.standard : {})

const schemasOf = (options: ServiceOptions.ServiceOptions, { name }: Realm.Realm): Json.EncodableObject => {
  const { Error: error = {}, ...animals } = Schemas.make(options)
  return { ...(name === "animals" ? animals : {}), Error: error }
}

const ANIMALS = "animals"

const tagOf = ({ tag = ANIMALS }: Operation.Operation): string => tag

const servers = ({
  basePath,
  publicBaseUrl,
  stagingBaseUrl
}: ServiceOptions.ServiceOptions): ReadonlyArray<Json.EncodableObject> => {
  const production = { url: trimSlash(publicBaseUrl ?? basePath) || ROOT, description: "The service." }
  if (stagingBaseUrl === undefined) return [production]
  return [production, { url: trimSlash(stagingBaseUrl), description: "The staging environment." }]
}

const trimSlash = (url: string): string => url.replace(/\/$/, "")

const pathItem = (
  { allow, operations }: Router.Resource,
  options: ServiceOptions.ServiceOptions
): Json.EncodableObject => ({
  description:
    "`HEAD` returns the same as `GET`, without the body; `OPTIONS` returns 204 and `Allow`. Methods other than " +
    `${allow} are rejected with 405.`,
  // An extension, because a 405 belongs to no operation, and Path Item Objects have no responses.
  "x-method-not-allowed": OpenApiResponses.methodNotAllowed(options),
  ...Object.fromEntries(
    [...operations]
      .filter(([method]) => method !== "HEAD")
      .map(([method, operation]) => [method.toLowerCase(), operationObject(operation, options)])
  )
})

const operationObject = (
  operation: Operation.Operation,
  options: ServiceOptions.ServiceOptions
): Json.EncodableObject => {
  const { body, description, id, success, summary } = operation
  const removal = operation.removal?.policy(options)
  const deprecationHeaders = removal === undefined ? [] : OpenApiHeaders.deprecation(id)
  const isIdempotent = Operation.isIdempotentOn(operation, options)
  const parameters = [...parametersOf(operation), ...(isIdempotent ? [idempotencyKeyOf(operation)] : [])]
  const replayed = isIdempotent ? [OpenApiHeaders.replayed] : []
  return {
    operationId: id,
    summary,
    description: [removalNote(removal), description, costNote(operation)]
      .filter((text) => text !== "")
      .join(" "),
    deprecated: removal === undefined ? undefined : true,
    tags: [tagOf(operation)],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && {
      description: `${body.description}, in at most ${options.maxBodyBytes} bytes of UTF-8.`,
      required: true,
      content: Schemas.content(body.schema, body.examples)
    },
    responses: {
      [success.status]: OpenApiResponses.success(options, success, [...replayed, ...deprecationHeaders]),
      ...OpenApiResponses.errors(options, errorCodes(operation, isIdempotent, removal), deprecationHeaders)
    }
  }
}

const parametersOf = ({
  pathParameters = {},
  query
}: Operation.Operation): ReadonlyArray<Json.EncodableObject> => [
  ...Object.entries(pathParameters).map(([name, { description, schema }]) => ({
    name,
    in: "path",
    required: true,
    description,
    schema
  })),
  ...Object.entries(query).map(([name, { description, required, schema }]) => ({
    name,
    in: "query",
    required,
    description,
    schema
  }))
]

// Without an example: reference pages fill it in, and clients paste it, so that their second request creates nothing.
const idempotencyKeyOf = ({ storesResponse }: Operation.Operation): Json.EncodableObject => ({
  name: "Idempotency-Key",
  in: "header",
  description: storesResponse
    ? "A key of your choice, such as a UUID, that is new for each request. If the request is sent again within 24 hours " +
      "with the same key, it is not executed again: the response is that of the first request, with " +
      "`Idempotency-Replayed`. Another request with the same key is rejected with 422."
    : "A key of your choice, such as a UUID, that is new for each animal. If a request is sent again within 24 hours with " +
      "the same key and the same animal, no second animal is created: the response contains the first animal, and " +
      "`Idempotency-Replayed`. A request with the same key and another animal is rejected with 422.",
  schema: { type: "string", minLength: 1, maxLength: IdempotencyKey.MAX_LENGTH }
})

/** Returns the error codes of an operation, except for the codes that every request can cause. */
const errorCodes = (
  { body, errors = [] }: Operation.Operation,
  isIdempotent: boolean,
  removal: Deprecation.Deprecation | undefined
): ReadonlyArray<string> => [
  "invalid_parameter",
  ...errors,
  ...(body === undefined ? [] : bodyErrors),
  ...(isIdempotent ? idempotencyErrors : []),
  ...(removal === undefined ? [] : removalErrors[removal.afterSunset])
]

const bodyErrors = [
  "invalid_json",
  "invalid_body",
  "payload_too_large",
  "unsupported_media_type"
] as const satisfies ReadonlyArray<ErrorCode>

const idempotencyErrors = [
  "invalid_idempotency_key",
  "idempotency_key_in_use",
  "idempotency_key_reused"
] as const satisfies ReadonlyArray<ErrorCode>

const removalErrors: { readonly [removal in Deprecation.Removal]: ReadonlyArray<ErrorCode> } = {
  gone: ["operation_removed"],
  "not-found": ["not_found"],
  "announce-only": []
}

const removalNote = (removal: Deprecation.Deprecation | undefined): string =>
  removal === undefined
    ? ""
    : `Deprecated: ${removalTexts[removal.afterSunset](HttpDate.format(removal.sunsetAt))}.`

const costNote = ({ cost = 1 }: Operation.Operation): string =>
  cost === 1 ? "" : `A request counts as ${cost} requests.`

const removalTexts: { readonly [removal in Deprecation.Removal]: (date: string) => string } = {
  gone: (date) => `it is removed on ${date} and then returns 410`,
  "not-found": (date) => `it is removed on ${date} and then returns 404`,
  "announce-only": (date) => `its removal is announced for ${date}`
}
