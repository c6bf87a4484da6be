/** Generates the responses of the OpenAPI document; error responses list their codes from the catalogue. */

import type * as Json from "../codec/Json.ts"
import { codes as allCodes, catalogue, type ErrorCode } from "../errors/ErrorCatalogue.ts"
import type { Success } from "../operations/Operation.ts"
import * as Schemas from "../operations/Schemas.ts"
import type { ServiceOptions } from "../service/ServiceOptions.ts"
import * as OpenApiHeaders from "./OpenApiHeaders.ts"

/** Returns the success response of an operation; `headers` are its headers in addition to those of its record. */
export const success = (
  options: ServiceOptions,
  response: Success,
  headers: ReadonlyArray<string>
): Json.EncodableObject => ({
  description: response.description,
  headers: OpenApiHeaders.refs(options, [...Object.keys(response.headers ?? {}), ...headers]),
  ...(response.schema !== undefined ? { content: Schemas.content(response.schema, response.examples) } : {})
})

/** Statuses, except 400, that every operation can return: for authentication, limits, transport and failures. */
const commonStatuses = [401, 408, 429, 431, 500, 503]

/** Statuses that are returned before the operation is known. */
const transportStatuses = [408, 431]

const componentNames: { readonly [status: number]: string } = {
  401: "Unauthorized",
  408: "RequestTimeout",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  431: "HeadersTooLarge",
  500: "InternalError",
  503: "ServiceUnavailable"
}

const headersOf: { readonly [status: number]: ReadonlyArray<string> } = {
  401: ["WWW-Authenticate"],
  415: ["Accept", "Accept-Encoding"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

const codesOf = (status: number): ReadonlyArray<ErrorCode> =>
  allCodes.filter((code) => catalogue[code].status === status)

const errorResponse = (
  options: ServiceOptions,
  status: number,
  headers: ReadonlyArray<string> = [],
  codes: ReadonlyArray<ErrorCode> = codesOf(status)
) => ({
  description: codes.map((code) => `\`${code}\`: ${catalogue[code].meaning}`).join("\n\n"),
  headers: OpenApiHeaders.refs(options, [...(headersOf[status] ?? []), ...headers]),
  content: Schemas.content(
    Schemas.ref("Error"),
    Object.fromEntries(codes.map((code) => [code, Schemas.errorBody(code)]))
  )
})

/** Returns `components.responses`: the error responses that all operations share. */
export const shared = (options: ServiceOptions): Json.EncodableObject =>
  Object.fromEntries(
    Object.entries(componentNames).map(([status, name]) => [name, errorResponse(options, Number(status))])
  )

/**
 * Returns the response to an unsupported method. It belongs to no operation, so it is placed in an extension. It is a
 * whole response and not a reference, because linters do not count references in extensions.
 */
export const methodNotAllowed = (options: ServiceOptions): Json.EncodableObject => {
  const { headers, ...response } = errorResponse(options, 405)
  return { ...response, headers: { ...headers, Allow: OpenApiHeaders.allow } }
}

const ref = (status: number): Json.EncodableObject => ({
  $ref: `#/components/responses/${componentNames[status]}`
})

/** Returns the error responses of an operation; `codes` are its codes in addition to those of every operation. */
export const errors = (
  options: ServiceOptions,
  codes: ReadonlyArray<ErrorCode>,
  headers: ReadonlyArray<string>
): Json.EncodableObject => {
  const badRequest = allCodes.filter(
    (code) => catalogue[code].status === 400 && (codes.includes(code) || code === "malformed_request")
  )
  const statuses = new Set([...commonStatuses, ...codes.map((code) => catalogue[code].status)])
  statuses.delete(400)
  const codesWith = (status: number) =>
    commonStatuses.includes(status) ? codesOf(status) : codesOf(status).filter((code) => codes.includes(code))
  return {
    400: errorResponse(options, 400, headers, badRequest),
    ...Object.fromEntries(
      [...statuses].map((status) => [
        status,
        (headers.length === 0 && status in componentNames) || transportStatuses.includes(status)
          ? ref(status)
          : errorResponse(options, status, headers, codesWith(status))
      ])
    )
  }
}
