/**
 * The service's OpenAPI 3.1 document, made from what the service itself runs on: schemas, routes, limits, plans,
 * deprecation policy and error catalogue. It cannot promise anything else.
 */
import type { Deprecation } from "../deprecation/Deprecation.ts"
import * as HttpDate from "../deprecation/HttpDate.ts"
import * as Page from "../domain/Page.ts"
import * as Json from "../validation/Json.ts"
import * as OpenApiHeaders from "./OpenApiHeaders.ts"
import * as OpenApiResponses from "./OpenApiResponses.ts"
import type { JsonObject } from "./OpenApiSchemas.ts"
import * as OpenApiSchemas from "./OpenApiSchemas.ts"
import * as Route from "./Route.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

/** The document as JSON text; int64 bounds are numbers with all their digits. */
export const json = (options: ServiceOptions): string => Json.stringify(document(options))

/** The document as a value; its int64 bounds are `bigint`, so only `Json.stringify` can write it. */
export const document = (options: ServiceOptions): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Animal Store Service",
    version: "1.0.0",
    summary: "A store's catalogue of animals.",
    description:
      "Lists, adds and retrieves the animals of a store. Every request needs an API key and counts against the " +
      "limits of its plan; every response says how much of them is left. Unknown query parameters and body fields " +
      `are ${options.strict ? "refused" : "ignored"}.`,
    license: { name: "MIT", identifier: "MIT" }
  },
  servers: servers(options),
  security: [{ apiKey: [] }],
  tags: [{ name: tag, description: "The animals of the store." }],
  paths: paths(options),
  components: {
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        description: "The API key, sent as `Authorization: Bearer <API_KEY>`."
      }
    },
    schemas: OpenApiSchemas.make(options.strict),
    headers: OpenApiHeaders.make(options),
    responses: OpenApiResponses.shared()
  }
})

const tag = "animals"

const { fullNewPet, minimalNewPet, pet, pets } = OpenApiSchemas.examples

const servers = ({ basePath, publicBaseUrl, stagingBaseUrl }: ServiceOptions): ReadonlyArray<JsonObject> => {
  const production = { url: trimSlash(publicBaseUrl ?? basePath) || "/", description: "The service." }
  if (stagingBaseUrl === undefined) return [production]
  return [production, { url: trimSlash(stagingBaseUrl), description: "The staging environment." }]
}

const trimSlash = (url: string): string => url.replace(/\/$/, "")

const paths = (options: ServiceOptions): JsonObject => {
  const operations = { listPets: listPets(), createPet: createPet(options), getPet: getPet(options) }
  return Object.fromEntries(
    Object.values(Route.resources).map((resource: Route.Resource) => [
      resource.path,
      {
        description:
          "`HEAD` is answered as `GET`, without the body; `OPTIONS` with 204 and `Allow`. Any method that is not " +
          `one of ${resource.allow} is answered with 405.`,
        // A 405 belongs to no operation, and Path Item Objects have no place for responses.
        "x-method-not-allowed": OpenApiResponses.ref(405),
        ...Object.fromEntries(
          Object.entries(resource.operations)
            .filter(([method]) => method !== "HEAD")
            .map(([method, operation]) => [method.toLowerCase(), operations[operation]])
        )
      }
    ])
  )
}

const listPets = (): JsonObject => ({
  operationId: "listPets",
  summary: "List all animals",
  description:
    "Animals by ascending id. When there are more than fit on the page, the `Link` header has the address of the " +
    "next one.",
  tags: [tag],
  parameters: [
    {
      name: "limit",
      in: "query",
      description: "Maximum number of animals returned.",
      schema: {
        type: "integer",
        minimum: Page.limit.min,
        maximum: Page.limit.max,
        default: Page.limit.default
      }
    },
    {
      name: "status",
      in: "query",
      description: "Restricts the result to animals with that availability status.",
      schema: OpenApiSchemas.ref("PetStatus")
    },
    {
      name: "cursor",
      in: "query",
      description:
        "Where the page starts. Opaque: follow the addresses of `Link` headers instead of making one up.",
      schema: { type: "string" }
    }
  ],
  responses: {
    200: OpenApiResponses.success("One page of animals.", "Pets", { pets }, ["Link-Next"]),
    ...OpenApiResponses.errors(["invalid_parameter"], [])
  }
})

const createPet = ({ maxBodyBytes }: ServiceOptions): JsonObject => ({
  operationId: "createPet",
  summary: "Add an animal",
  description: "Stores an animal and answers with it and the id it got.",
  tags: [tag],
  requestBody: {
    description: `The animal, in at most ${maxBodyBytes} bytes of UTF-8.`,
    required: true,
    content: OpenApiSchemas.content("NewPet", { minimal: minimalNewPet, full: fullNewPet })
  },
  responses: {
    201: OpenApiResponses.success("The created animal.", "Pet", { pet }, ["Location"]),
    ...OpenApiResponses.errors(["invalid_json", "invalid_body", "invalid_parameter"], [413, 415])
  }
})

const getPet = ({ getPetDeprecation: { afterSunset, sunsetAt } }: ServiceOptions): JsonObject => ({
  operationId: "getPet",
  summary: "Get an animal",
  description:
    `Deprecated: ${removal[afterSunset](HttpDate.format(sunsetAt))}. ` +
    "Use `GET /pets` with the `status` filter instead.",
  deprecated: true,
  tags: [tag],
  parameters: [
    {
      name: "petId",
      in: "path",
      required: true,
      description: "Identifier of the animal to fetch.",
      schema: OpenApiSchemas.ref("Int64")
    }
  ],
  responses: {
    200: OpenApiResponses.success("The animal.", "Pet", { pet }, OpenApiHeaders.deprecation),
    ...OpenApiResponses.errors(
      ["invalid_parameter"],
      afterSunset === "gone" ? [404, 410] : [404],
      OpenApiHeaders.deprecation
    )
  }
})

const removal: { readonly [choice in Deprecation["afterSunset"]]: (date: string) => string } = {
  gone: (date) => `from ${date} on it is removed and answers 410`,
  "not-found": (date) => `from ${date} on it is removed and answers 404`,
  "announce-only": (date) => `its removal is announced for ${date}`
}
