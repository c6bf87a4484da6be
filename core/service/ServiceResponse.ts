/** Defines and creates responses of the service, independent of the host that sends them. */
import * as ApiError from "../errors/ApiError.ts"
import { catalogue, type ErrorCode } from "../errors/ErrorCatalogue.ts"

/** A response header. */
export type Header = readonly [name: string, value: string]

/** A response; the service creates it and a host sends it. */
export interface ServiceResponse {
  readonly status: number
  /** The headers in order; names may repeat. The host adds `Content-Length` and connection headers. */
  readonly headers: ReadonlyArray<Header>
  /** JSON text, or empty. For `HEAD` it is the body of `GET`; the host sends only its length. */
  readonly body: string
  /** The body of a file, which responses share; hosts send it instead of `body` and must not change it. */
  readonly bytes?: Uint8Array | undefined
  /**
   * The code of an error response. Only for use within the service, which removes it before it returns the response.
   *
   * @internal
   */
  readonly errorCode?: ErrorCode | undefined
}

/** Whether a status means that the request succeeded. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Creates a response with a JSON body or an empty body. */
export const make = (status: number, body: string, headers: ReadonlyArray<Header> = []): ServiceResponse => ({
  status,
  headers,
  body
})

/** Creates an error response with the `Error` body (contract §2). */
export const error = (failure: ApiError.ApiError, headers: ReadonlyArray<Header> = []): ServiceResponse => ({
  status: catalogue[failure.code].status,
  headers,
  body: ApiError.body(failure),
  errorCode: failure.code
})
