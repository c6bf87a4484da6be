/** Defines faults in error responses. */
import { text } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import { failure, html, isError } from "../spoilers/ErrorResponses.ts"

/** Changes the body of errors with one status, or of all errors. */
const changesError = (
  change: (error: { readonly [member: string]: unknown }) => unknown,
  status: number | typeof isError = isError
): Where => AtHttp.responses({ status }, Edit.members(change))

const knownMethods = new Set(["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"])

export const faults: ReadonlyArray<Fault> = [
  fault("errors.text-400", "Returns 400 with plain text.")
    .breaks("errors.body", "every.error-body", 'not JSON: "Bad Request"')
    .by(AtHttp.responses({ status: 400 }, Edit.body("Bad Request"))),
  fault("errors.no-code", "Omits the code from a 404.")
    .breaks("errors.body", "every.error-body", "code is not text")
    .by(changesError(({ message, status }) => ({ message, status }), 404)),
  fault("errors.no-message", "Omits the message from a 401.")
    .breaks("errors.body", "every.error-body", "message is not a string")
    .by(changesError(({ code, status }) => ({ code, status }), 401)),
  fault("errors.empty-message", "Sends an empty message with a 404.")
    .breaks("errors.body-types", "every.error-body", "message is empty")
    .by(changesError((error) => ({ ...error, message: "" }), 404)),
  fault("errors.status-as-text", "Sends the status in the body as a string.")
    .breaks("errors.body-types", "every.error-body", "status is not an integer")
    .by(changesError(({ status, ...others }) => ({ ...others, status: String(status) }))),
  fault("errors.wrapped", "Wraps each error in another object.")
    .breaks("errors.body", "every.error-body", "code is not text")
    .by(changesError((error) => ({ error }))),
  fault("errors.always-400", "Sends the status 400 in the body of every error.")
    .breaks("errors.status-matches", "every.error-status", "status 400 in the body")
    .by(changesError((error) => ({ ...error, status: 400n }))),
  fault("errors.html-404", "Returns HTML for an unknown path.")
    .breaks("errors.body", "errors.other-operations", '404 where not JSON: "<h1>404')
    .by(AtHttp.responses({ to: ({ target }) => !target.includes("/pets"), status: isError }, html)),
  fault("errors.method-500", "Returns 500 for an unknown method.")
    .breaks("errors.no-5xx-anywhere", "every.no-5xx-anywhere", "any request 500")
    .by(AtHttp.responses({ to: ({ method }) => !knownMethods.has(method), status: isError }, failure)),
  fault("errors.more-members", "Adds the path as a member to each error.")
    .breaks("errors.exact-body", "every.exact-error", "code, message, path, status")
    .by(changesError((error) => ({ ...error, path: "/v1/pets" }))),
  fault("errors.unknown-code", "Uses a code outside the closed set for a 400.")
    .breaks("errors.codes", "every.code", '"bad_request" with 400')
    .by(changesError((error) => ({ ...error, code: "bad_request" }), 400)),
  fault("errors.code-of-another", "Sends the code of a 410 with a 404.")
    .breaks("errors.codes", "every.code", '"operation_removed" with 404')
    .by(changesError((error) => ({ ...error, code: "operation_removed" }), 404)),
  fault("errors.vague", "Does not name the invalid field of a body.")
    .breaks("errors.messages", "errors.told-reason", '"The request is invalid."')
    .by(changesError((error) => ({ ...error, message: "The request is invalid." }), 400)),
  fault("errors.first-reason-only", "Names only the first of several invalid fields.")
    .breaks("errors.messages", "errors.told-reason", 'name: is required"')
    .by(changesError((error) => ({ ...error, message: String(error.message).split(";")[0] }), 400)),
  fault("errors.stack-trace", "Sends a stack trace in the message.")
    .breaks("errors.messages", "errors.no-trace", "TypeError: no name")
    .by(
      changesError(
        (error) => ({ ...error, message: "TypeError: no name\n    at create (/srv/pets.js:12:7)" }),
        400
      )
    ),
  fault("errors.echoes-body", "Repeats a rejected body in the message.")
    .breaks("errors.no-echo", "every.no-echo", "of at most 400 characters")
    .by(
      AtHttp.responses({ status: isError }, (response, { body, target }) =>
        Edit.members((error) => ({ ...error, message: `Invalid: ${text(body)}${target}` }))(response)
      )
    )
]
