/**
 * The OpenAPI 3.1 document, derived from the same values that the service uses: operations, schemas, limits, plans,
 * deprecation policy and error catalogue.
 */
import * as HttpDate from "../codec/HttpDate.ts"
import * as Json from "../codec/Json.ts"
import type * as Deprecation from "../deprecation/Deprecation.ts"
import type { ErrorCode } from "../errors/ErrorCatalogue.ts"
import type * as Operation from "../operations/Operation.ts"
import * as Schemas from "../operations/Schemas.ts"
import * as Router from "../service/Router.ts"
import type * as ServiceOptions from "../service/ServiceOptions.ts"
import * as OpenApiHeaders from "./OpenApiHeaders.ts"
import * as OpenApiResponses from "./OpenApiResponses.ts"

/** Returns the document as JSON text; int64 bounds are numbers with all their digits. */
export const json = (
  options: ServiceOptions.ServiceOptions,
  operations: ReadonlyArray<Operation.Operation>
): string => Json.stringify(document(options, operations))

/** Returns the document as a value; its int64 bounds are `bigint`, so only `Json.stringify` can encode it. */
export const document = (
  options: ServiceOptions.ServiceOptions,
  operations: ReadonlyArray<Operation.Operation>
): Json.EncodableObject => ({
  openapi: "3.1.0",
  info: {
    title: "Animal Store Service",
    version: "1.0.0",
    summary: "A store's catalogue of animals.",
    description:
      "Lists, adds and retrieves the animals of a store. Every request needs an API key and counts against the " +
      "limits of its plan; every response says how much of them is left. Unknown query parameters and body fields " +
      `are ${options.strict ? "rejected" : "ignored"}.`,
    license: { name: "MIT", identifier: "MIT" }
  },
  servers: servers(options),
  security: [{ apiKey: [] }],
  tags: [{ name: tag, description: "The animals of the store." }],
  paths: Object.fromEntries(
    Router.resourcesOf(operations).map((resource) => [resource.path, pathItem(resource, options)])
  ),
  components: {
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        description: "The API key, sent as `Authorization: Bearer <API_KEY>`."
      }
    },
    schemas: Schemas.make(options.strict),
    headers: OpenApiHeaders.make(options, operations),
    responses: OpenApiResponses.shared()
  }
})

const tag = "animals"

const servers = ({
  basePath,
  publicBaseUrl,
  stagingBaseUrl
}: ServiceOptions.ServiceOptions): ReadonlyArray<Json.EncodableObject> => {
  const production = { url: trimSlash(publicBaseUrl ?? basePath) || "/", description: "The service." }
  if (stagingBaseUrl === undefined) return [production]
  return [production, { url: trimSlash(stagingBaseUrl), description: "The staging environment." }]
}

const trimSlash = (url: string): string => url.replace(/\/$/, "")

const pathItem = (
  { allow, operations }: Router.Resource,
  options: ServiceOptions.ServiceOptions
): Json.EncodableObject => ({
  description:
    "`HEAD` returns what `GET` does, without the body; `OPTIONS` returns 204 and `Allow`. Any method that is not " +
    `one of ${allow} is rejected with 405.`,
  // An extension, because a 405 belongs to no operation and Path Item Objects have no responses.
  "x-method-not-allowed": OpenApiResponses.ref(405),
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
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    summary,
    description: removal === undefined ? description : `${removalNote(removal)} ${description}`,
    deprecated: removal === undefined ? undefined : true,
    tags: [tag],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && {
      description: `${body.description}, in at most ${options.maxBodyBytes} bytes of UTF-8.`,
      required: true,
      content: Schemas.content(body.schema, body.examples)
    },
    responses: {
      [success.status]: OpenApiResponses.success(success, deprecationHeaders),
      ...OpenApiResponses.errors(errorCodes(operation, removal), deprecationHeaders)
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
  ...Object.entries(query).map(([name, { description, schema }]) => ({
    name,
    in: "query",
    description,
    schema
  }))
]

/** Returns the error codes of an operation in addition to those of every request. */
const errorCodes = (
  { body, errors = [] }: Operation.Operation,
  removal: Deprecation.Deprecation | undefined
): ReadonlyArray<ErrorCode> => [
  "invalid_parameter",
  ...errors,
  ...(body === undefined ? [] : ofBodies),
  ...(removal === undefined ? [] : ofRemoval[removal.afterSunset])
]

const ofBodies = [
  "invalid_json",
  "invalid_body",
  "payload_too_large",
  "unsupported_media_type"
] as const satisfies ReadonlyArray<ErrorCode>

const ofRemoval: { readonly [removal in Deprecation.Removal]: ReadonlyArray<ErrorCode> } = {
  gone: ["operation_removed"],
  "not-found": ["not_found"],
  "announce-only": []
}

const removalNote = ({ afterSunset, sunsetAt }: Deprecation.Deprecation): string =>
  `Deprecated: ${removalTexts[afterSunset](HttpDate.format(sunsetAt))}.`

const removalTexts: { readonly [removal in Deprecation.Removal]: (date: string) => string } = {
  gone: (date) => `from ${date} on it is removed and returns 410`,
  "not-found": (date) => `from ${date} on it is removed and returns 404`,
  "announce-only": (date) => `its removal is announced for ${date}`
}
