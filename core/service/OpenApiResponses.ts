/** Responses of the OpenAPI document: error responses list the codes of the catalogue that they can carry. */
import { catalogue, codes, type ErrorCode } from "../errors/ErrorCatalogue.ts"
import * as OpenApiHeaders from "./OpenApiHeaders.ts"
import type { JsonObject } from "./OpenApiSchemas.ts"
import * as OpenApiSchemas from "./OpenApiSchemas.ts"

type HeaderNames = ReadonlyArray<OpenApiHeaders.HeaderName>

/** The response of an operation that was carried out, with named examples of its body. */
export const success = (
  description: string,
  schema: OpenApiSchemas.SchemaName,
  examples: JsonObject,
  headers: HeaderNames = []
): JsonObject => ({
  description,
  headers: OpenApiHeaders.refs(headers),
  content: OpenApiSchemas.content(schema, examples)
})

/** Statuses besides 400 that every operation can answer with, of the key, the limits, the connection, the service. */
const everywhere = [401, 408, 429, 431, 500, 503]

/** Those decided before it is known which operation is meant. */
const transport = [408, 431]

const names: { readonly [status: number]: string } = {
  401: "Unauthorized",
  405: "MethodNotAllowed",
  408: "RequestTimeout",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  431: "HeadersTooLarge",
  500: "InternalError",
  503: "ServiceUnavailable"
}

const headersOf: { readonly [status: number]: HeaderNames } = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  415: ["Accept", "Accept-Encoding"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

const codesOf = (status: number): ReadonlyArray<ErrorCode> =>
  codes.filter((code) => catalogue[code].status === status)

const errorResponse = (
  status: number,
  headers: HeaderNames = [],
  codes: ReadonlyArray<ErrorCode> = codesOf(status)
): JsonObject => ({
  description: codes.map((code) => `\`${code}\`: ${catalogue[code].meaning}`).join("\n\n"),
  headers: OpenApiHeaders.refs([...(headersOf[status] ?? []), ...headers]),
  content: OpenApiSchemas.content(
    "Error",
    Object.fromEntries(codes.map((code) => [code, OpenApiSchemas.errorBody(code)]))
  )
})

/** `components.responses`: error responses that mean the same wherever they occur. */
export const shared = (): JsonObject =>
  Object.fromEntries(Object.entries(names).map(([status, name]) => [name, errorResponse(Number(status))]))

export const ref = (status: number): JsonObject => ({ $ref: `#/components/responses/${names[status]}` })

/** How an operation fails: its reasons for a 400, its statuses besides those of every operation, its headers. */
export const errors = (
  badRequest: ReadonlyArray<ErrorCode>,
  statuses: ReadonlyArray<number>,
  headers: HeaderNames = []
): JsonObject => ({
  400: errorResponse(400, headers, [...badRequest, "malformed_request"]),
  ...Object.fromEntries(
    [...everywhere, ...statuses].map((status) => [
      status,
      headers.length === 0 || transport.includes(status) ? ref(status) : errorResponse(status, headers)
    ])
  )
})
