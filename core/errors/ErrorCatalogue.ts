/**
 * Defines all errors that the service returns; the code, the OpenAPI document and the docs use the same entries.
 * The contract defines the statuses (§7, §8), but not the values of `code` (§7, last line).
 */

/** The catalogue entry of one code. */
export interface Entry {
  /** HTTP status, repeated in the body's `status`. */
  readonly status: number
  /** The default message; it is correct for every occurrence of the error. */
  readonly meaning: string
  /** Section of the contract that requires the error, "design" if it does not mention it, "host" for own errors. */
  readonly clause: string
  /** Whether the same request can succeed later. */
  readonly retryable: boolean
}

/** The entries of all codes, in the order of the docs. */
export const catalogue = {
  missing_api_key: {
    status: 401,
    meaning: "An API key is required: send it as 'Authorization: Bearer <API_KEY>'.",
    clause: "§5.3",
    retryable: false
  },
  invalid_api_key: {
    status: 401,
    meaning: "The API key is malformed, unknown, expired or revoked.",
    clause: "§5.3",
    retryable: false
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: "The rate limit is exceeded: wait for the time given in the Retry-After header.",
    clause: "§8.4.1",
    retryable: true
  },
  api_key_banned: {
    status: 429,
    meaning:
      "The API key is temporarily banned because requests continued after a 429: wait for Retry-After.",
    clause: "§8.4.3",
    retryable: true
  },
  not_found: { status: 404, meaning: "There is no such resource.", clause: "§4.3", retryable: false },
  operation_removed: {
    status: 410,
    meaning: "This operation has been removed: use 'GET /pets' with the 'status' filter.",
    clause: "§9.3",
    retryable: false
  },
  method_not_allowed: {
    status: 405,
    meaning: "The resource does not support this method: see the Allow header.",
    clause: "design",
    retryable: false
  },
  unsupported_media_type: {
    status: 415,
    meaning: "The body must be sent as 'application/json', in UTF-8 and without a content coding.",
    clause: "§1",
    retryable: false
  },
  payload_too_large: { status: 413, meaning: "The body is too large.", clause: "design", retryable: false },
  invalid_json: {
    status: 400,
    meaning: "The body is not valid JSON, contains duplicate names, or is nested too deeply.",
    clause: "§7",
    retryable: false
  },
  invalid_body: {
    status: 400,
    meaning: "The body is missing required fields or contains invalid values.",
    clause: "§7",
    retryable: false
  },
  invalid_parameter: {
    status: 400,
    meaning: "A query parameter has an invalid value.",
    clause: "§4.1",
    retryable: false
  },
  invalid_idempotency_key: {
    status: 400,
    meaning:
      "The Idempotency-Key header must be one key of 1 to 255 visible ASCII characters, which may be quoted.",
    clause: "design",
    retryable: false
  },
  idempotency_key_in_use: {
    status: 409,
    meaning: "Another request with this Idempotency-Key is in progress: retry in a moment.",
    clause: "design",
    retryable: true
  },
  idempotency_key_reused: {
    status: 422,
    meaning: "This Idempotency-Key was used for another animal in the past 24 hours.",
    clause: "design",
    retryable: false
  },
  malformed_request: {
    status: 400,
    meaning: "The request is not valid HTTP.",
    clause: "design",
    retryable: false
  },
  request_timeout: {
    status: 408,
    meaning: "The complete request did not arrive in time.",
    clause: "design",
    retryable: true
  },
  headers_too_large: {
    status: 431,
    meaning: "The request target or the header section is too large.",
    clause: "design",
    retryable: false
  },
  internal_error: {
    status: 500,
    meaning: "The service failed; the X-Request-Id header identifies this request.",
    clause: "design",
    retryable: false
  },
  service_unavailable: {
    status: 503,
    meaning: "The service cannot reach its store: wait for the time given in the Retry-After header.",
    clause: "design",
    retryable: true
  }
} as const satisfies { readonly [code: string]: Entry }

/** A value of `code` in an Error body of the service itself. */
export type ErrorCode = keyof typeof catalogue

/** The entries of all codes that a service returns, those of its host included. */
export type Catalogue = { readonly [code: string]: Entry }

/** All values of `code`, in the order of the catalogue. */
export const codes = Object.keys(catalogue) as ReadonlyArray<ErrorCode>
