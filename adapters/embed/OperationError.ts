/** Creates the errors that operations of a host throw to choose the response. */
import * as ApiError from "../../core/errors/ApiError.ts"
import type { Catalogue } from "../../core/errors/ErrorCatalogue.ts"
import * as OwnErrors from "../../core/errors/OwnErrors.ts"

/** An error with a declared code; thrown by `run` of an operation, it becomes the response. */
export class OperationError extends Error {
  override readonly name = "OperationError"
  readonly code: string
  /** The status of the response. */
  readonly status: number

  constructor(code: string, message: string, status: number) {
    super(message)
    this.code = code
    this.status = status
  }

  /** The `Error` body of the response. */
  toJSON(): { readonly code: string; readonly message: string; readonly status: number } {
    return { code: this.code, message: this.message, status: this.status }
  }
}

/** Returns the error of the core for an error of an operation. */
export const toApiError = ({ code, message }: OperationError): ApiError.ApiError =>
  new ApiError.ApiError({ code, message })

/** Returns a function that creates errors with the codes of a catalogue, and throws an `Error` for another code. */
export const makerOf =
  (catalogue: Catalogue) =>
  (code: string, message?: string): OperationError => {
    const entry = catalogue[code]
    if (entry === undefined) throw new Error(OwnErrors.undeclared(code))
    return new OperationError(code, message ?? entry.meaning, entry.status)
  }
