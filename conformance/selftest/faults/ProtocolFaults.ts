/** Defines faults in the paths, methods, headers or bodies of all operations. */
import { header } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import { failure, isError } from "../spoilers/ErrorResponses.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the path, but not the query, before the server reads it. */
const readsPath = (change: (path: string) => string): Where =>
  AtHttp.requests(Requests.any, (request) => {
    const [path = "", ...query] = request.target.split("?")
    return { ...request, target: [change(path), ...query].join("?") }
  })

export const faults: ReadonlyArray<Fault> = [
  fault("protocol.other-base", "Serves its operations below /api.")
    .breaks("http.version-segment")
    .by(AtHttp.options({ basePath: "/api" })),
  fault("protocol.paths-in-any-case", "Ignores the letter case of paths.")
    .breaks("http.paths-exact")
    .by(readsPath((path) => path.toLowerCase())),
  fault("protocol.trailing-slash", "Ignores a trailing slash in a path.")
    .breaks("http.paths-exact")
    .by(readsPath((path) => path.replace(/\/$/, ""))),
  fault("protocol.merges-slashes", "Merges consecutive slashes.")
    .breaks("http.paths-exact")
    .by(readsPath((path) => path.replaceAll(/\/{2,}/g, "/"))),
  fault("protocol.decodes-first", "Percent-decodes a target before it splits off the query.")
    .breaks("http.unknown-path")
    .by(readsPath((path) => path.replace(/%3f/i, "?"))),
  fault("protocol.escape-500", "Returns 500 for a malformed percent escape.")
    .breaks("http.malformed-escape")
    .by(AtHttp.responses({ to: ({ target }) => target.includes("%zz"), status: isError }, failure)),
  fault("protocol.lenient-escapes", "Ignores a malformed percent escape.")
    .breaks("http.malformed-escape")
    .by(
      AtHttp.requests(Requests.any, (request) => ({
        ...request,
        target: request.target.replace(/status=sold%$/, "status=sold")
      }))
    ),
  fault("protocol.method-404", "Returns 404 for a method that a path does not support.")
    .breaks("http.method-not-allowed")
    .by(AtHttp.responses({ status: 405 }, Edit.error(404, "not_found"))),
  fault("protocol.allow-too-much", "Lists DELETE in Allow but rejects it.")
    .breaks("http.method-not-allowed")
    .by(AtHttp.responses({ status: 405 }, Edit.header("Allow", "GET, HEAD, POST, OPTIONS, DELETE"))),
  fault("protocol.head-with-body", "Returns a body for HEAD, as for GET.")
    .breaks("http.head")
    .by(AtHttp.requests(Requests.isHead, (request) => ({ ...request, method: "GET" }))),
  fault("protocol.options-200", "Returns 200 for OPTIONS.")
    .breaks("http.options")
    .by(AtHttp.responses({ status: 204 }, Edit.status(200))),
  fault("protocol.request-id-taken-over", "Uses the request id that a client sends.")
    .breaks("http.request-id")
    .by(
      AtHttp.responses({}, (response, request) => {
        const sent = header(request, "x-request-id")
        return sent === undefined ? response : Edit.header("X-Request-Id", sent)(response)
      })
    ),
  fault("protocol.wrong-date", "Sends its local time as UTC in Date.")
    .breaks("http.date")
    .by(
      AtHttp.responses({}, (response, _request, { now }) =>
        Edit.header("Date", new Date(now() + 3_600_000).toUTCString())(response)
      )
    ),
  fault("protocol.accept-406", "Returns 406 for a request that does not accept JSON.")
    .breaks("http.accept")
    .by(
      AtHttp.responses(
        { to: (request) => /^(?:text|image)\//.test(header(request, "accept") ?? "") },
        Edit.error(406, "not_found")
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
  fault("protocol.redirects", "Redirects a path with a trailing slash.")
    .breaks("http.no-redirects")
    .by(
      AtHttp.responses({ to: ({ target }) => target.endsWith("/") }, (response, { target }) =>
        Edit.header("Location", target.replace(/\/+$/, ""))(Edit.status(308)(response))
      )
    ),
  fault("protocol.cors", "Allows pages of every origin to read its responses.")
    .breaks("http.no-cors")
    .by(
      AtHttp.responses(
        { to: (request) => header(request, "origin") !== undefined },
        Edit.header("Access-Control-Allow-Origin", "*")
      )
    ),
  fault("protocol.size-first", "Checks the size of a body before anything else.")
    .breaks("http.order-of-checks")
    .by(
      AtHttp.responses(
        { to: ({ body }) => (body?.length ?? 0) > 65_536 },
        Edit.error(413, "payload_too_large")
      )
    ),
  fault("protocol.type-before-method", "Checks the content type before the method.")
    .breaks("http.order-of-checks")
    .by(
      AtHttp.responses(
        { to: (request) => header(request, "content-type") === "text/plain", status: 405 },
        Edit.error(415, "unsupported_media_type")
      )
    ),
  fault("protocol.content-before-size", "Parses a body before it checks the size.")
    .breaks("http.order-of-checks")
    .by(AtHttp.responses({ status: 413 }, Edit.error(400, "invalid_json")))
]
