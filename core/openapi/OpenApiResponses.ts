/** Generates the responses of the OpenAPI document; error responses list their codes from the catalogue. */

import * as Realm from "../access/Realm.ts"
import type * as Json from "../codec/Json.ts"
import { catalogue, codes as serviceCodes } from "../errors/ErrorCatalogue.ts"
import * as OwnErrors from "../errors/OwnErrors.ts"
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

/** Returns the codes of the service itself with this status. */
const codesOf = (status: number): ReadonlyArray<string> =>
  serviceCodes.filter((code) => catalogue[code].status === status)

const errorResponse = (
  options: ServiceOptions,
  status: number,
  headers: ReadonlyArray<string> = [],
  codes: ReadonlyArray<string> = codesOf(status),
  realm: Realm.Realm = Realm.animals
) => {
  const all = OwnErrors.extend(options.errors)
  const entries = codes.flatMap((code) => {
    const entry = all[code]
    return entry === undefined
      ? []
      : [[code, { ...entry, meaning: Realm.inWordsOf(realm, entry.meaning) }] as const]
  })
  return {
    description: entries.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join("\n\n"),
    headers: OpenApiHeaders.refs(options, [...(headersOf[status] ?? []), ...headers]),
    content: Schemas.content(
      Schemas.ref("Error"),
      Object.fromEntries(entries.map(([code, entry]) => [code, Schemas.errorBody(code, entry)]))
    )
  }
}

/** Returns `components.responses`: the error responses that all operations share. */
export const shared = (options: ServiceOptions, realm: Realm.Realm): Json.EncodableObject =>
  Object.fromEntries(
    Object.entries(componentNames).map(([status, name]) => [
      name,
      errorResponse(options, Number(status), [], codesOf(Number(status)), realm)
    ])
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
  codes: ReadonlyArray<string>,
  headers: ReadonlyArray<string>
): Json.EncodableObject => {
  const all = OwnErrors.extend(options.errors)
  const statusOf = (code: string) => all[code]?.status ?? 500
  const ownCodes = (status: number) =>
    codes.filter((code) => Object.hasOwn(options.errors, code) && statusOf(code) === status)
  const codesWith = (status: number) => [
    ...codesOf(status).filter((code) => commonStatuses.includes(status) || codes.includes(code)),
    ...ownCodes(status)
  ]
  const badRequest = codesOf(400).filter((code) => codes.includes(code) || code === "malformed_request")
  const statuses = new Set([...commonStatuses, ...codes.map(statusOf)])
  statuses.delete(400)
  const isShared = (status: number) =>
    status in componentNames && headers.length === 0 && ownCodes(status).length === 0
  return {
    400: errorResponse(options, 400, headers, [...badRequest, ...ownCodes(400)]),
    ...Object.fromEntries(
      [...statuses].map((status) => [
        status,
        isShared(status) || transportStatuses.includes(status)
          ? ref(status)
          : errorResponse(options, status, headers, codesWith(status))
      ])
    )
  }
}
