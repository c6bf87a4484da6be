/** An answer from the error catalogue: what a caller did wrong, or what the service could not do. */
import * as Data from "effect/Data"
import { catalogue, type ErrorCode } from "./ErrorCatalogue.ts"

/**
 * Fails an operation with one entry of the catalogue; `message` says more than the entry's meaning (which field,
 * what reason) and never repeats a credential or long input.
 *
 * A plain tagged value without a stack: refusing a request is an ordinary answer, and collecting a stack would
 * cost more than the rest of that answer.
 */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Data.TaggedClass("ApiError")<{
  readonly code: ErrorCode
  readonly message: string
}> {
  declare readonly code: Code
}

/** A failure with `code`; without a `message` of its own it has the entry's meaning. */
export const make = <const Code extends ErrorCode>(
  code: Code,
  message: string = catalogue[code].meaning
): ApiError<Code> => new ApiError<Code>({ code, message })

/** The body of contract §2 `Error`: exactly `code`, `message` and `status`. */
export const body = (error: ApiError): string =>
  `{"code":"${error.code}","message":${JSON.stringify(error.message)},"status":${catalogue[error.code].status}}`
