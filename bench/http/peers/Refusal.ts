/** How the peers refuse a request: the body that the contract gives an error. */

// A type and no interface: libraries take it as a record of unknown values.
export type Refusal = {
  readonly code: string
  readonly message: string
  readonly status: number
}

export const unauthorized = {
  code: "invalid_api_key",
  message: "The API key is missing or unknown.",
  status: 401
} as const satisfies Refusal

export const tooMany = {
  code: "rate_limit_exceeded",
  message: "Too many requests; wait as long as Retry-After says.",
  status: 429
} as const satisfies Refusal

export const notFound = {
  code: "not_found",
  message: "There is nothing at this address.",
  status: 404
} as const satisfies Refusal

export const tooLarge = {
  code: "payload_too_large",
  message: "The body is too large.",
  status: 413
} as const satisfies Refusal

export const failed = {
  code: "internal_error",
  message: "Something went wrong.",
  status: 500
} as const satisfies Refusal

export const invalid = (message: string): Refusal => ({ code: "invalid_request", message, status: 400 })
