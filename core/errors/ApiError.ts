/** Creates the errors of the service from the error catalogue. */
import * as Data from "effect/Data"
import { catalogue, type ErrorCode } from "./ErrorCatalogue.ts"

/**
 * A failure with a code from the catalogue of the service; `message` names the field and the reason, and never repeats a
 * credential or a long input.
 *
 * A plain tagged value without a stack trace: errors are ordinary responses, and capturing a stack trace costs more
 * than the rest of the response.
 */
export class ApiError<Code extends string = string> extends Data.TaggedClass("ApiError")<{
  readonly code: string
  readonly message: string
}> {
  declare readonly code: Code
}

/** Creates an error of the service itself; the default message is the meaning of the catalogue entry. */
export const make = <const Code extends ErrorCode>(
  code: Code,
  message: string = catalogue[code].meaning
): ApiError<Code> => new ApiError<Code>({ code, message })

/** Encodes the `Error` body (contract §2): exactly `code`, `message` and `status`. */
export const body = ({ code, message }: ApiError, status: number): string =>
  `{"code":"${code}","message":${JSON.stringify(message)},"status":${status}}`
