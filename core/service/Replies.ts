/** The replies of the pipeline to requests for which no operation runs, or whose operation fails. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ApiError from "../errors/ApiError.ts"
import type { Catalogue } from "../errors/ErrorCatalogue.ts"
import type * as Operation from "../operations/Operation.ts"
import type { Call } from "./Call.ts"
import type { Resource } from "./Router.ts"
import type { BodyConsumed, BodyTooLarge, HostBusy, TransportError } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

export const notFound = ServiceResponse.error(ApiError.make("not_found"))

/** The reply to an admitted request, to which the host responds: has only the headers of every response. */
export const admitted = ServiceResponse.make(200, "")

/** Returns the reply to a method that the resource does not support. */
export const unsupportedMethod = (
  { allow }: Pick<Resource, "allow">,
  method: string
): ServiceResponse.Reply =>
  method === "OPTIONS"
    ? ServiceResponse.make(204, "", ["Allow", allow])
    : ServiceResponse.error(ApiError.make("method_not_allowed"), ["Allow", allow])

const readOnly: Pick<Resource, "allow"> = { allow: "GET, HEAD, OPTIONS" }

/** Returns the reply to another method than `GET` and `HEAD` on a resource that has only these. */
export const toWrite = (method: string): ServiceResponse.Reply => unsupportedMethod(readOnly, method)

/** The reply while the host holds too many bytes. */
const hostBusy = ServiceResponse.error(
  ApiError.make(
    "service_unavailable",
    "The server has too many requests in progress: wait for the time given in the Retry-After header."
  )
)

/** Returns the reply to a transport error. */
export const toTransportError = (error: TransportError): ServiceResponse.Reply =>
  error === "service_unavailable" ? hostBusy : ServiceResponse.error(ApiError.make(error))

/** The reply when a store fails. An operation that fails with the same code has another reply. */
export const unavailable = ServiceResponse.error(ApiError.make("service_unavailable"))
const internalError = ServiceResponse.error(ApiError.make("internal_error"))

const bodyConsumed = ServiceResponse.error(
  ApiError.make(
    "internal_error",
    "The host read the request body before animal-store could. Mount animal-store before any body parser, " +
      "or without one on its path: it needs the exact bytes."
  )
)

/** Returns the reply with the output of an operation. */
export const toOutput = (
  { schema, status: declared }: Operation.Success,
  { body = "", headers, status = declared }: Operation.Output
): ServiceResponse.Reply => ServiceResponse.make(status, schema === undefined ? "" : body, headers?.flat())

/** The failures of the pipeline. */
export type Failure = Operation.Failure | BodyTooLarge | BodyConsumed | HostBusy

/** Creates the function that returns the reply to a request that failed, and logs a failure that is not the client's. */
export const failures =
  (catalogue: Catalogue, maxBodyBytes: number) =>
  (call: Call, cause: Cause.Cause<Failure>): Effect.Effect<ServiceResponse.Reply> => {
    const failure = failureIn(cause)
    const fixed = call.transportError && toTransportError(call.transportError)
    const logged = (line: Effect.Effect<void>, reply: ServiceResponse.Reply) =>
      Effect.as(call.logged(line), reply)
    switch (failure?._tag) {
      case "ApiError": {
        const { code, message } = failure
        const entry = catalogue[code]
        if (entry !== undefined) return Effect.succeed(ServiceResponse.errorWith(entry.status, failure))
        const line = Effect.logError("500 internal_error: undeclared error code")
        return logged(Effect.annotateLogs(line, { code, message }), internalError)
      }
      case "StoreUnavailable":
        return logged(Effect.logWarning("503 service_unavailable", failure), fixed ?? unavailable)
      case "BodyTooLarge": {
        const message = `The body must have at most ${maxBodyBytes} bytes.`
        return Effect.succeed(ServiceResponse.error(ApiError.make("payload_too_large", message)))
      }
      case "BodyConsumed":
        return Effect.succeed(bodyConsumed)
      case "HostBusy":
        return logged(Effect.logWarning("503 too many bytes in flight"), hostBusy)
      case undefined:
        return logged(Effect.logError("500 internal_error", cause), fixed ?? internalError)
    }
  }

/** Returns the first failure in a cause; `undefined` if there are only defects or interruptions. */
export const failureIn = (cause: Cause.Cause<Failure>): Failure | undefined =>
  cause.reasons.find(Cause.isFailReason)?.error
