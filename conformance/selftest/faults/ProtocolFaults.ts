/** Faults in the paths, methods and headers of all operations, and in the removal of getPet. */
import * as Deprecation from "../../../core/deprecation/Deprecation.ts"
import { header, type WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the path, but not the query, before the server reads it. */
const readsPath = (change: (path: string) => string): Where =>
  AtHttp.requests(Requests.any, (request) => {
    const [path = "", ...query] = request.target.split("?")
    return { ...request, target: [change(path), ...query].join("?") }
  })

/** Changes the id before the server reads it. */
const readsId = (change: (id: string) => string): Where =>
  AtHttp.requests(Requests.isGet, (request) => ({
    ...request,
    target: request.target.replace(/[^/]*$/, change)
  }))

const withDeprecation = (policy: Partial<Deprecation.Deprecation>): Where =>
  AtHttp.options({ getPetDeprecation: { ...Deprecation.getPet, ...policy } })

const SUNSET = Deprecation.getPet.sunsetAt

const isText = (request: WireRequest): boolean => header(request, "content-type") === "text/plain"

export const faults: ReadonlyArray<Fault> = [
  fault("get.leading-digits", "Reads only the leading digits of an id.")
    .breaks("get.not-found")
    .by(readsId((id) => /^[0-9]+/.exec(id)?.[0] ?? id)),
  fault("get.id-wraps", "Wraps an id outside int64 to another id.")
    .breaks("get.not-found")
    .by(readsId((id) => (/^[0-9]+$/.test(id) ? String(BigInt.asIntN(64, BigInt(id))) : id))),
  fault("get.never-decodes", "Does not percent-decode an id.")
    .breaks("http.paths-exact")
    .by(readsId((id) => id.replaceAll("%", "%25"))),
  fault("protocol.paths-in-any-case", "Ignores the letter case of paths.")
    .breaks("http.paths-exact")
    .by(readsPath((path) => path.toLowerCase())),
  fault("protocol.merges-slashes", "Merges consecutive slashes.")
    .breaks("http.paths-exact")
    .by(readsPath((path) => path.replaceAll(/\/{2,}/g, "/"))),
  fault("protocol.method-404", "Returns 404 for a method that a path does not support.")
    .breaks("http.method-not-allowed")
    .by(AtHttp.responses({ status: 405 }, Edit.error(404, "not_found"))),
  fault("protocol.head-with-body", "Returns a body for HEAD, as for GET.")
    .breaks("http.head")
    .by(AtHttp.requests(Requests.isHead, (request) => ({ ...request, method: "GET" }))),
  fault("protocol.options-200", "Returns 200 for OPTIONS.")
    .breaks("http.options")
    .by(AtHttp.responses({ status: 204 }, Edit.status(200))),
  fault("protocol.wrong-date", "Sends its local time as UTC in Date.")
    .breaks("http.date")
    .by(
      AtHttp.responses({}, (response, _request, { now }) =>
        Edit.header("Date", new Date(now() + 3_600_000).toUTCString())(response)
      )
    ),
  fault("protocol.method-override", "Reads the method from the header X-HTTP-Method-Override.")
    .breaks("http.other-operations")
    .by(
      AtHttp.requests(Requests.any, (request) => ({
        ...request,
        method: header(request, "x-http-method-override") ?? request.method
      }))
    ),
  fault("protocol.cors", "Allows pages of every origin to read its responses.")
    .breaks("http.no-cors")
    .by(
      AtHttp.responses(
        { to: (request) => header(request, "origin") !== undefined },
        Edit.header("Access-Control-Allow-Origin", "*")
      )
    ),
  fault("protocol.type-before-method", "Checks the content type before the method.")
    .breaks("http.order-of-checks")
    .by(AtHttp.responses({ to: isText, status: 405 }, Edit.error(415, "unsupported_media_type"))),
  fault("protocol.content-before-size", "Parses a body before it checks the size.")
    .breaks("http.order-of-checks")
    .by(AtHttp.responses({ status: 413 }, Edit.error(400, "invalid_json"))),
  fault("removal.a-year-late", "Removes getPet a year late.")
    .breaks("get.removed")
    .by(withDeprecation({ sunsetAt: Date.UTC(2031, 11, 5) })),
  fault("removal.a-day-early", "Removes getPet on 4 December 2030.")
    .breaks("get.available-until-removal")
    .by(withDeprecation({ sunsetAt: Date.UTC(2030, 11, 4) })),
  fault("removal.a-second-late", "Removes getPet one second late.")
    .breaks("get.gone")
    .by(withDeprecation({ sunsetAt: SUNSET + 1_000 })),
  fault("removal.list-too", "Removes the list together with getPet.")
    .breaks("get.removed-alone")
    .by(
      AtHttp.responses({ to: Requests.isList }, (response, _request, { now }) =>
        now() >= SUNSET ? Edit.error(410, "operation_removed")(response) : response
      )
    )
]
