/** Defines faults in error responses. */
import { text } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import { isError } from "../spoilers/ErrorResponses.ts"

/** Changes the body of errors with one status, or of all errors. */
const changesError = (
  change: (error: { readonly [member: string]: unknown }) => unknown,
  status: number | typeof isError = isError
): Where => AtHttp.responses({ status }, Edit.members(change))

export const faults: ReadonlyArray<Fault> = [
  fault("errors.first-reason-only", "Names only the first of several invalid fields.")
    .breaks("errors.messages")
    .by(changesError((error) => ({ ...error, message: String(error.message).split(";")[0] }), 400)),
  fault("errors.stack-trace", "Sends a stack trace in the message.")
    .breaks("errors.messages")
    .by(
      changesError(
        (error) => ({ ...error, message: "TypeError: no name\n    at create (/srv/pets.js:12:7)" }),
        400
      )
    ),
  fault("errors.echoes-body", "Repeats a rejected body in the message.")
    .breaks("errors.no-echo")
    .by(
      AtHttp.responses({ status: isError }, (response, { body, target }) =>
        Edit.members((error) => ({ ...error, message: `Invalid: ${text(body)}${target}` }))(response)
      )
    )
]
