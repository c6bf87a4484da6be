/** Defines faults in the paths, methods, headers or bodies of all operations. */
import { header } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import { failure, html, isError } from "../spoilers/ErrorResponses.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the path, but not the query, before the server reads it. */
const readsPath = (change: (path: string) => string): Where =>
  AtHttp.requests(Requests.any, (request) => {
    const [path = "", ...query] = request.target.split("?")
    return { ...request, target: [change(path), ...query].join("?") }
  })

export const faults: ReadonlyArray<Fault> = [
  fault("protocol.other-base", "Serves its operations below /api.")
    .breaks("http.version-segment", "protocol.version", "the base path /api")
    .by(AtHttp.options({ basePath: "/api" })),
  fault("protocol.list-as-html", "Returns a list as HTML.")
    .breaks("http.json-bodies", "every.json-body", 'not JSON: "<h1>200')
    .by(AtHttp.responses({ to: Requests.isList, status: 200 }, html)),
  fault("protocol.byte-order-mark", "Begins every body with a byte order mark.")
    .breaks("http.json-bodies", "every.json-body", 'not JSON: "\ufeff')
    .by(
      AtHttp.responses(
        {},
        Edit.rewritten((body) => `\ufeff${body}`)
      )
    ),
  fault("protocol.unauthorized-empty", "Returns 401 without a body.")
    .breaks("auth.error-body", "auth.key-required", 'where not JSON: ""')
    .by(AtHttp.responses({ status: 401 }, Edit.body(""))),
  fault("protocol.empty-200", "Returns 200 and an empty object for an unknown path.")
    .breaks("http.unknown-path", "protocol.unknown-path", "not_found 200")
    .by(
      AtHttp.responses(
        { to: ({ target }) => target.endsWith("/nothing"), status: isError },
        Edit.replace(200, "{}")
      )
    ),
  fault("protocol.paths-in-any-case", "Ignores the letter case of paths.")
    .breaks("http.paths-exact", "protocol.unknown-path", "not_found 200")
    .by(readsPath((path) => path.toLowerCase())),
  fault("protocol.trailing-slash", "Ignores a trailing slash in a path.")
    .breaks("http.paths-exact", "protocol.unknown-path", "not_found 200")
    .by(readsPath((path) => path.replace(/\/$/, ""))),
  fault("protocol.merges-slashes", "Merges consecutive slashes.")
    .breaks("http.paths-exact", "protocol.unknown-path", "not_found 200")
    .by(readsPath((path) => path.replaceAll(/\/{2,}/g, "/"))),
  fault("protocol.decodes-first", "Percent-decodes a target before it splits off the query.")
    .breaks("http.unknown-path", "protocol.unknown-path", "not_found 200")
    .by(readsPath((path) => path.replace(/%3f/i, "?"))),
  fault("protocol.never-decodes", "Compares paths without percent-decoding.")
    .breaks("http.decoded-once", "protocol.encoded-path", "200 404, remaining")
    .by(readsPath((path) => path.replace(/%7/g, "%257"))),
  fault("protocol.escape-500", "Returns 500 for a malformed percent escape.")
    .breaks(
      "http.malformed-escape",
      "protocol.malformed-escape",
      "404 with an Error body of code not_found 500"
    )
    .by(AtHttp.responses({ to: ({ target }) => target.includes("%zz"), status: isError }, failure)),
  fault("protocol.lenient-escapes", "Ignores a malformed percent escape.")
    .breaks(
      "http.malformed-escape",
      "protocol.malformed-escape",
      "400 with an Error body of code invalid_parameter 200"
    )
    .by(
      AtHttp.requests(Requests.any, (request) => ({
        ...request,
        target: request.target.replace(/status=sold%$/, "status=sold")
      }))
    ),
  fault("protocol.method-404", "Returns 404 for a method that a path does not support.")
    .breaks(
      "http.method-not-allowed",
      "protocol.method-not-allowed",
      "405 with an Error body of code method_not_allowed 404"
    )
    .by(AtHttp.responses({ status: 405 }, Edit.error(404, "not_found"))),
  fault("protocol.allow-too-much", "Lists DELETE in Allow but rejects it.")
    .breaks("http.method-not-allowed", "protocol.method-not-allowed", "DELETE, GET, HEAD, OPTIONS")
    .by(AtHttp.responses({ status: 405 }, Edit.header("Allow", "GET, HEAD, POST, OPTIONS, DELETE"))),
  fault("protocol.no-allow", "Returns 405 without Allow.")
    .breaks("http.method-not-allowed", "protocol.allow", "on a 405 no Allow")
    .by(AtHttp.responses({ status: isError }, Edit.without("allow"))),
  fault("protocol.head-with-body", "Returns a body for HEAD, as for GET.")
    .breaks("http.head", "protocol.head", "without a body to HEAD 200")
    .by(AtHttp.requests(Requests.isHead, (request) => ({ ...request, method: "GET" }))),
  fault("protocol.head-always-200", "Returns 200 for HEAD on every path.")
    .breaks("http.head", "protocol.head", "404 without a body to HEAD 200")
    .by(AtHttp.responses({ to: Requests.isHead }, Edit.status(200))),
  fault("protocol.head-without-type", "Omits the content type for HEAD.")
    .breaks("http.head", "protocol.head", "to HEAD as to GET none")
    .by(AtHttp.responses({ to: Requests.isHead }, Edit.without("content-type"))),
  fault("protocol.options-200", "Returns 200 for OPTIONS.")
    .breaks(
      "http.options",
      "protocol.options",
      "204 without a body and Allow with GET, HEAD, OPTIONS, POST 200"
    )
    .by(AtHttp.responses({ status: 204 }, Edit.status(200))),
  fault("protocol.cached-errors", "Allows caches to store errors.")
    .breaks("http.standard-headers", "every.standard-headers", "Cache-Control: max-age=60")
    .by(AtHttp.responses({ status: isError }, Edit.header("Cache-Control", "max-age=60"))),
  fault("protocol.sniffed", "Omits X-Content-Type-Options, so that browsers may guess the content type.")
    .breaks("http.standard-headers", "every.standard-headers", "X-Content-Type-Options is missing")
    .by(AtHttp.responses({}, Edit.without("x-content-type-options"))),
  fault("protocol.no-charset", "Omits the charset from the content type.")
    .breaks("http.content-type", "every.content-type", "charset=utf-8 Content-Type: application/json")
    .by(AtHttp.responses({}, Edit.header("Content-Type", "application/json"))),
  fault("protocol.no-request-id", "Sends errors without a request id.")
    .breaks("http.standard-headers", "every.standard-headers", "X-Request-Id is missing")
    .by(AtHttp.responses({ status: isError }, Edit.without("x-request-id"))),
  fault("protocol.same-request-id", "Sends the same request id with every response.")
    .breaks("http.request-id", "protocol.request-id", "no other response has 0")
    .by(AtHttp.responses({}, Edit.header("X-Request-Id", "0"))),
  fault("protocol.request-id-taken-over", "Uses the request id that a client sends.")
    .breaks("http.request-id", "protocol.request-id", "that no other response has")
    .by(
      AtHttp.responses({}, (response, request) => {
        const sent = header(request, "x-request-id")
        return sent === undefined ? response : Edit.header("X-Request-Id", sent)(response)
      })
    ),
  fault("protocol.no-date", "Omits the Date header.")
    .breaks("http.standard-headers", "every.standard-headers", "Date is missing")
    .by(AtHttp.responses({}, Edit.without("date"))),
  fault("protocol.wrong-date", "Sends its local time as UTC in Date.")
    .breaks("http.date", "every.date", "2026 10:00:00 GMT")
    .by(
      AtHttp.responses({}, (response, _request, { now }) =>
        Edit.header("Date", new Date(now() + 3_600_000).toUTCString())(response)
      )
    ),
  fault("protocol.accept-406", "Returns 406 for a request that does not accept JSON.")
    .breaks("http.accept", "protocol.accept", "200 406, remaining")
    .by(
      AtHttp.responses(
        { to: (request) => /^(?:text|image)\//.test(header(request, "accept") ?? "") },
        Edit.error(406, "not_found")
      )
    ),
  fault("protocol.method-override", "Reads the method from the header X-HTTP-Method-Override.")
    .breaks("http.other-operations", "protocol.no-override", "200 405, remaining")
    .by(
      AtHttp.requests(Requests.any, (request) => ({
        ...request,
        method: header(request, "x-http-method-override") ?? request.method
      }))
    ),
  fault("protocol.redirects", "Redirects a path with a trailing slash.")
    .breaks("http.no-redirects", "every.no-redirect", "no redirect 308")
    .by(
      AtHttp.responses({ to: ({ target }) => target.endsWith("/") }, (response, { target }) =>
        Edit.header("Location", target.replace(/\/+$/, ""))(Edit.status(308)(response))
      )
    ),
  fault("protocol.cors", "Allows pages of every origin to read its responses.")
    .breaks("http.no-cors", "protocol.no-cors", "Access-Control-Allow-Origin")
    .by(
      AtHttp.responses(
        { to: (request) => header(request, "origin") !== undefined },
        Edit.header("Access-Control-Allow-Origin", "*")
      )
    ),
  fault("protocol.size-first", "Checks the size of a body before anything else.")
    .breaks("http.order-of-checks", "protocol.order", "not_found 413")
    .by(
      AtHttp.responses(
        { to: ({ body }) => (body?.length ?? 0) > 65_536 },
        Edit.error(413, "payload_too_large")
      )
    ),
  fault("protocol.type-before-method", "Checks the content type before the method.")
    .breaks("http.order-of-checks", "protocol.order", "method_not_allowed 415")
    .by(
      AtHttp.responses(
        { to: (request) => header(request, "content-type") === "text/plain", status: 405 },
        Edit.error(415, "unsupported_media_type")
      )
    ),
  fault("protocol.content-before-size", "Parses a body before it checks the size.")
    .breaks("http.order-of-checks", "protocol.order", "payload_too_large 400")
    .by(AtHttp.responses({ status: 413 }, Edit.error(400, "invalid_json")))
]
