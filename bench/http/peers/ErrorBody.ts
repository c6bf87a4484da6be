/** Defines the error bodies of the peers, in the form that the contract specifies. */

export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly status: number
}

export const unauthorized = {
  code: "invalid_api_key",
  message: "The API key is missing or unknown.",
  status: 401
} as const satisfies ErrorBody

export const tooMany = {
  code: "rate_limit_exceeded",
  message: "Too many requests: wait for the time given in Retry-After.",
  status: 429
} as const satisfies ErrorBody

export const notFound = {
  code: "not_found",
  message: "There is no such resource.",
  status: 404
} as const satisfies ErrorBody

export const failed = {
  code: "internal_error",
  message: "Something went wrong.",
  status: 500
} as const satisfies ErrorBody

export const invalid = (message: string): ErrorBody => ({ code: "invalid_request", message, status: 400 })
