/** Defines faults that occur only under several conditions at once, such as one operation with one header. */
import * as Effect from "effect/Effect"
import { bytes, header, headerValues, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where, type World } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Creations from "../spoilers/Creations.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as ErrorResponses from "../spoilers/ErrorResponses.ts"
import * as Requests from "../spoilers/Requests.ts"

const has = (name: string, value: RegExp) => (request: WireRequest) =>
  headerValues(request, name).some((field) => value.test(field))

const isBrowser = has("accept", /xhtml/)
const hasCharset = has("content-type", /charset/i)
const isChunked = has("transfer-encoding", /chunked/)

const withoutStatus = ({ categoryId, name }: { readonly [member: string]: unknown }) => ({ name, categoryId })

/** Changes the responses to some requests, while `isTime` is true for the server's time. */
const during = (
  isTime: (date: Date) => boolean,
  to: (request: WireRequest, world: World) => boolean,
  edit: (response: WireResponse, world: World) => WireResponse
): Where =>
  AtHttp.transport(
    (real, world) => (request) =>
      Effect.map(real(request), (response) =>
        isTime(new Date(world.now())) && to(request, world) ? edit(response, world) : response
      )
  )

export const faults: ReadonlyArray<Fault> = [
  fault("cell.charset-status", "Loses the status of a creation whose content type has a charset.")
    .breaks("create.status-kept")
    .by(Creations.readsMembers(withoutStatus, hasCharset)),
  fault("cell.escaped-status", "Ignores a status whose member name is written with escapes.")
    .breaks("create.status-kept")
    .by(
      AtHttp.requests(
        (request) => Requests.isCreation(request) && text(request.body).includes("\\u0073\\u0074\\u0061"),
        (request) => ({
          ...request,
          body: bytes(text(request.body).replace(/"\\u0073\\u0074\\u0061[^"]*"/, '"other"'))
        })
      )
    ),
  fault("cell.chunked-latin", "Reads a chunked body as ISO 8859-1.")
    .breaks("create.returns-created")
    .by(
      AtHttp.requests(
        (request) => Requests.isCreation(request) && isChunked(request),
        (request) => ({ ...request, body: bytes(Buffer.from(request.body ?? []).toString("latin1")) })
      )
    ),
  fault("cell.browser-ignores-status", "Ignores the status filter for browsers.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) => Requests.isList(request) && isBrowser(request),
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("cell.limit-last", "Ignores a limit after the status if the request has an Accept header.")
    .breaks("list.limit.maximum-returned")
    .by(
      AtHttp.requests(
        (request) => header(request, "accept") !== undefined && /status=.*&limit=/.test(request.target),
        (request) => Requests.withParameter(request, "limit", undefined)
      )
    ),
  fault("cell.unknown-parameter-status", "Ignores a status that follows an unknown parameter.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) => /\?zz=1&status=/.test(request.target),
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault(
    "cell.missing-costs-two",
    "Counts a request that accepts application/json and gets 404 as two requests."
  )
    .breaks("limits.remaining-truth")
    .by(
      AtHttp.transport(
        (real) => (request) =>
          Effect.flatMap(real(request), (response) =>
            response.status === 404 && header(request, "accept") === "application/json"
              ? real(request)
              : Effect.succeed(response)
          )
      )
    ),
  fault("cell.new-year", "Returns 500 for creations in the first second of a year.")
    .breaks("create.status-201")
    .by(
      during(
        (date) => date.getTime() - Date.UTC(date.getUTCFullYear(), 0) < 1_000,
        Requests.isCreation,
        ErrorResponses.failure
      )
    ),
  fault("cell.leap-day", "Returns 404 for every animal on 29 February.")
    .breaks("get.found")
    .by(
      during(
        (date) => date.getUTCMonth() === 1 && date.getUTCDate() === 29,
        Requests.isGet,
        Edit.error(404, "not_found")
      )
    )
]
