/** Defines and creates responses of the service, independent of the host that sends them. */
import * as ApiError from "../errors/ApiError.ts"
import { catalogue, type ErrorCode } from "../errors/ErrorCatalogue.ts"

/** A response header. */
export type Header = readonly [name: string, value: string]

/** Headers as one list: each name is followed by its value. Names may repeat. */
export type FlatHeaders = ReadonlyArray<string>

/** A response; the service creates it and a host sends it. */
export interface ServiceResponse {
  readonly status: number
  /** The headers in order. The host adds `Content-Length` and connection headers. */
  readonly headers: FlatHeaders
  /** JSON text, or empty. For `HEAD` it is the body of `GET`; the host sends only its length. */
  readonly body: string
  /** The body of a file, which responses share; hosts send it instead of `body` and must not change it. */
  readonly bytes?: Uint8Array | undefined
}

/** What the pipeline decides: a response without the headers that all responses have. */
export interface Reply extends ServiceResponse {
  /** The code of an error response. */
  readonly errorCode?: string | undefined
}

/** Whether a status means that the request succeeded. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Returns headers as pairs. */
export const pairs = (headers: FlatHeaders): ReadonlyArray<Header> =>
  headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ""] as const] : []))

/** Creates a reply with a JSON body or an empty body. */
export const make = (status: number, body: string, headers: FlatHeaders = []): Reply => ({
  status,
  headers,
  body
})

/** Creates the reply to a request that failed with an error of the service itself. */
export const error = (failure: ApiError.ApiError<ErrorCode>, headers?: FlatHeaders): Reply =>
  errorWith(catalogue[failure.code].status, failure, headers)

/** Creates an error reply with the `Error` body (contract §2). */
export const errorWith = (status: number, failure: ApiError.ApiError, headers: FlatHeaders = []): Reply => ({
  status,
  headers,
  body: ApiError.body(failure, status),
  errorCode: failure.code
})
