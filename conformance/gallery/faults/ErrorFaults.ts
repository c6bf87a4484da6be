/** Backends with a fault in what holds for all operations: errors, paths, methods and headers. */
import * as Effect from "effect/Effect"
import { header, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Fault, Where } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

const says = (change: (response: WireResponse, request: WireRequest) => WireResponse): Where => ({
  at: "http",
  transport: Rewrite.answers(change)
})

/** Answers errors otherwise. */
const errs = (change: (response: WireResponse, request: WireRequest) => WireResponse): Where =>
  says((response, request) => (response.status >= 400 ? change(response, request) : response))

/** Tells errors of one status, or of all, with other members. */
const tells = (change: (error: { readonly [member: string]: unknown }) => unknown, status?: number): Where =>
  errs((response) =>
    status === undefined || response.status === status
      ? Rewrite.withJson(response, (error) => change({ ...Object(error) }))
      : response
  )

const sees = (change: (request: WireRequest) => WireRequest): Where => ({
  at: "http",
  transport: Rewrite.requests(change)
})

/** Sees another path than came, the query as it was. */
const seesPath = (change: (path: string) => string): Where =>
  sees((request) => {
    const [path = "", ...query] = request.target.split("?")
    return { ...request, target: [change(path), ...query].join("?") }
  })

const html = (response: WireResponse): WireResponse =>
  Rewrite.withHeader(
    Rewrite.withBody(response, `<h1>${response.status}</h1>`),
    "Content-Type",
    "text/html; charset=utf-8"
  )

const error = (response: WireResponse, status: number, code: string): WireResponse =>
  Rewrite.withBody(
    Rewrite.withStatus(response, status),
    `{"code":"${code}","message":"It failed.","status":${status}}`
  )

const known = new Set(["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"])

export const faults: ReadonlyArray<Fault> = [
  {
    id: "protocol.other-base",
    does: "Has its operations below /api.",
    breaks: "http.version-segment",
    killedBy: "protocol.version",
    words: "the base path /api",
    where: { at: "http", options: { basePath: "/api" } }
  },
  {
    id: "protocol.list-as-html",
    does: "Answers a list as a page for browsers.",
    breaks: "http.json-bodies",
    killedBy: "every.json-body",
    words: 'no JSON: "<h1>200',
    where: says((response, request) =>
      Rewrite.isList(request) && response.status === 200 ? html(response) : response
    )
  },
  {
    id: "protocol.byte-order-mark",
    does: "Begins each body with a byte order mark.",
    breaks: "http.json-bodies",
    killedBy: "every.json-body",
    words: 'no JSON: "\ufeff',
    where: says((response) => Rewrite.withBody(response, `\ufeff${text(response.body)}`))
  },
  {
    id: "protocol.unauthorized-empty",
    does: "Answers 401 without a body.",
    breaks: "auth.error-body",
    killedBy: "auth.key-required",
    words: 'where no JSON: ""',
    where: errs((response) => (response.status === 401 ? Rewrite.withBody(response, "") : response))
  },
  {
    id: "errors.text-400",
    does: "Answers 400 with plain text.",
    breaks: "errors.body",
    killedBy: "every.error-body",
    words: 'no JSON: "Bad Request"',
    where: errs((response) =>
      response.status === 400 ? Rewrite.withBody(response, "Bad Request") : response
    )
  },
  {
    id: "errors.no-code",
    does: "Leaves the code out of a 404.",
    breaks: "errors.body",
    killedBy: "every.error-body",
    words: "code is no text",
    where: tells(({ message, status }) => ({ message, status }), 404)
  },
  {
    id: "errors.no-message",
    does: "Leaves the message out of a 401.",
    breaks: "errors.body",
    killedBy: "every.error-body",
    words: "message is no string",
    where: tells(({ code, status }) => ({ code, status }), 401)
  },
  {
    id: "errors.status-as-text",
    does: "Tells the status as text.",
    breaks: "errors.body-types",
    killedBy: "every.error-body",
    words: "status is no integer",
    where: tells(({ status, ...others }) => ({ ...others, status: String(status) }))
  },
  {
    id: "errors.wrapped",
    does: "Wraps the error in a member of its own.",
    breaks: "errors.body",
    killedBy: "every.error-body",
    words: "code is no text",
    where: tells((inner) => ({ error: inner }))
  },
  {
    id: "errors.always-400",
    does: "Tells the status 400 in every error.",
    breaks: "errors.status-matches",
    killedBy: "every.error-status",
    words: "status 400 in the body",
    where: tells((members) => ({ ...members, status: 400n }))
  },
  {
    id: "errors.html-404",
    does: "Answers an unknown path as a page for browsers.",
    breaks: "errors.body",
    killedBy: "errors.other-operations",
    words: '404 where no JSON: "<h1>404',
    where: errs((response, request) => (/\/pets/.test(request.target) ? response : html(response)))
  },
  {
    id: "errors.method-500",
    does: "Fails within on a method that it does not know.",
    breaks: "errors.no-5xx-anywhere",
    killedBy: "every.no-5xx-anywhere",
    words: "any request 500",
    where: errs((response, request) =>
      known.has(request.method) ? response : error(response, 500, "internal_error")
    )
  },

  // Against our own answers to the contract's gaps.

  {
    id: "errors.more-members",
    does: "Tells the path in an error.",
    breaks: "errors.exact-body",
    killedBy: "every.exact-error",
    words: "code, message, path, status",
    where: tells((members) => ({ ...members, path: "/v1/pets" }))
  },
  {
    id: "errors.unknown-code",
    does: "Has codes of its own.",
    breaks: "errors.codes",
    killedBy: "every.code",
    words: '"bad_request" with 400',
    where: tells((members) => ({ ...members, code: "bad_request" }), 400)
  },
  {
    id: "errors.code-of-another",
    does: "Calls a 404 by the code of a 410.",
    breaks: "errors.codes",
    killedBy: "every.code",
    words: '"operation_removed" with 404',
    where: tells((members) => ({ ...members, code: "operation_removed" }), 404)
  },
  {
    id: "errors.vague",
    does: "Does not say what is wrong with a body.",
    breaks: "errors.messages",
    killedBy: "errors.told-reason",
    words: '"The request is invalid."',
    where: tells((members) => ({ ...members, message: "The request is invalid." }), 400)
  },
  {
    id: "errors.first-reason-only",
    does: "Names the first wrong field and no other.",
    breaks: "errors.messages",
    killedBy: "errors.told-reason",
    words: 'name: is required"',
    where: tells(({ message, ...others }) => ({ ...others, message: String(message).split(";")[0] }), 400)
  },
  {
    id: "errors.stack-trace",
    does: "Tells the stack in the message.",
    breaks: "errors.messages",
    killedBy: "errors.no-trace",
    words: "TypeError: no name",
    where: tells(
      (members) => ({ ...members, message: "TypeError: no name\n    at create (/srv/pets.js:12:7)" }),
      400
    )
  },
  {
    id: "errors.echoes-body",
    does: "Repeats a refused body in the message.",
    breaks: "errors.no-echo",
    killedBy: "every.no-echo",
    words: "characters one of 60051",
    where: errs((response, request) =>
      Rewrite.withJson(response, (members) => ({
        ...Object(members),
        message: `Invalid: ${text(request.body)}${request.target}`
      }))
    )
  },
  {
    id: "protocol.empty-200",
    does: "Answers an unknown path with 200 and an empty object.",
    breaks: "http.unknown-path",
    killedBy: "protocol.unknown-path",
    words: "not_found 200",
    where: errs((response, request) =>
      /\/nothing$/.test(request.target) ? Rewrite.withBody(Rewrite.withStatus(response, 200), "{}") : response
    )
  },
  {
    id: "protocol.paths-in-any-case",
    does: "Reads paths without regard to case.",
    breaks: "http.paths-exact",
    killedBy: "protocol.unknown-path",
    words: "not_found 200",
    where: seesPath((path) => path.toLowerCase())
  },
  {
    id: "protocol.trailing-slash",
    does: "Takes a path with a slash behind it for the same.",
    breaks: "http.paths-exact",
    killedBy: "protocol.unknown-path",
    words: "not_found 200",
    where: seesPath((path) => path.replace(/\/$/, ""))
  },
  {
    id: "protocol.merges-slashes",
    does: "Takes several slashes for one.",
    breaks: "http.paths-exact",
    killedBy: "protocol.unknown-path",
    words: "not_found 200",
    where: seesPath((path) => path.replaceAll(/\/{2,}/g, "/"))
  },
  {
    id: "protocol.decodes-first",
    does: "Decodes a target before it looks for the query.",
    breaks: "http.unknown-path",
    killedBy: "protocol.unknown-path",
    words: "not_found 200",
    where: seesPath((path) => path.replace(/%3f/i, "?"))
  },
  {
    id: "protocol.never-decodes",
    does: "Compares paths as they are encoded.",
    breaks: "http.decoded-once",
    killedBy: "protocol.encoded-path",
    words: "200 404, remaining",
    where: seesPath((path) => path.replace(/%7/g, "%257"))
  },
  {
    id: "protocol.escape-500",
    does: "Fails within on a malformed percent escape.",
    breaks: "http.malformed-escape",
    killedBy: "protocol.malformed-escape",
    words: "404 with an Error body of code not_found 500",
    where: errs((response, request) =>
      /%zz/.test(request.target) ? error(response, 500, "internal_error") : response
    )
  },
  {
    id: "protocol.lenient-escapes",
    does: "Takes a malformed percent escape as it stands.",
    breaks: "http.malformed-escape",
    killedBy: "protocol.malformed-escape",
    words: "400 with an Error body of code invalid_parameter 200",
    where: sees((request) => ({ ...request, target: request.target.replace(/status=sold%$/, "status=sold") }))
  },
  {
    id: "protocol.method-404",
    does: "Answers a method that a path does not have with 404.",
    breaks: "http.method-not-allowed",
    killedBy: "protocol.method-not-allowed",
    words: "405 with an Error body of code method_not_allowed 404",
    where: errs((response) => (response.status === 405 ? error(response, 404, "not_found") : response))
  },
  {
    id: "protocol.allow-too-much",
    does: "Names DELETE in Allow and refuses it.",
    breaks: "http.method-not-allowed",
    killedBy: "protocol.method-not-allowed",
    words: "DELETE, GET, HEAD, OPTIONS",
    where: errs((response) =>
      response.status === 405
        ? Rewrite.withHeader(response, "Allow", "GET, HEAD, POST, OPTIONS, DELETE")
        : response
    )
  },
  {
    id: "protocol.no-allow",
    does: "Answers 405 without Allow.",
    breaks: "http.method-not-allowed",
    killedBy: "protocol.allow",
    words: "on a 405 no Allow",
    where: errs((response) => Rewrite.withoutHeader(response, "allow"))
  },
  {
    id: "protocol.head-with-body",
    does: "Answers HEAD with the body of GET.",
    breaks: "http.head",
    killedBy: "protocol.head",
    words: "without a body to HEAD 200",
    where: sees((request) => (request.method === "HEAD" ? { ...request, method: "GET" } : request))
  },
  {
    id: "protocol.head-always-200",
    does: "Answers HEAD with 200 whatever the path.",
    breaks: "http.head",
    killedBy: "protocol.head",
    words: "404 without a body to HEAD 200",
    where: says((response, { method }) => (method === "HEAD" ? Rewrite.withStatus(response, 200) : response))
  },
  {
    id: "protocol.head-without-type",
    does: "Leaves the content type out for HEAD.",
    breaks: "http.head",
    killedBy: "protocol.head",
    words: "to HEAD as to GET none",
    where: says((response, { method }) =>
      method === "HEAD" ? Rewrite.withoutHeader(response, "content-type") : response
    )
  },
  {
    id: "protocol.options-200",
    does: "Answers OPTIONS with 200.",
    breaks: "http.options",
    killedBy: "protocol.options",
    words: "204 without a body and Allow with GET, HEAD, OPTIONS, POST 200",
    where: says((response) => (response.status === 204 ? Rewrite.withStatus(response, 200) : response))
  },
  {
    id: "protocol.cached-errors",
    does: "Lets errors be cached.",
    breaks: "http.standard-headers",
    killedBy: "every.standard-headers",
    words: "Cache-Control: max-age=60",
    where: errs((response) => Rewrite.withHeader(response, "Cache-Control", "max-age=60"))
  },
  {
    id: "protocol.sniffed",
    does: "Lets browsers guess what a list is.",
    breaks: "http.standard-headers",
    killedBy: "every.standard-headers",
    words: "X-Content-Type-Options is missing",
    where: says((response) => Rewrite.withoutHeader(response, "x-content-type-options"))
  },
  {
    id: "protocol.no-charset",
    does: "Leaves the charset out of the content type.",
    breaks: "http.content-type",
    killedBy: "every.content-type",
    words: "charset=utf-8 Content-Type: application/json",
    where: says((response) => Rewrite.withHeader(response, "Content-Type", "application/json"))
  },
  {
    id: "protocol.no-request-id",
    does: "Gives errors no request id.",
    breaks: "http.standard-headers",
    killedBy: "every.standard-headers",
    words: "X-Request-Id is missing",
    where: errs((response) => Rewrite.withoutHeader(response, "x-request-id"))
  },
  {
    id: "protocol.same-request-id",
    does: "Gives all answers one request id.",
    breaks: "http.request-id",
    killedBy: "protocol.request-id",
    words: "no other answer has 0",
    where: says((response) => Rewrite.withHeader(response, "X-Request-Id", "0"))
  },
  {
    id: "protocol.request-id-taken-over",
    does: "Takes over the request id that a client sends.",
    breaks: "http.request-id",
    killedBy: "protocol.request-id",
    words: "that no other answer has",
    where: says((response, request) => {
      const sent = header(request, "x-request-id")
      return sent === undefined ? response : Rewrite.withHeader(response, "X-Request-Id", sent)
    })
  },
  {
    id: "protocol.no-date",
    does: "Leaves out Date.",
    breaks: "http.standard-headers",
    killedBy: "every.standard-headers",
    words: "Date is missing",
    where: says((response) => Rewrite.withoutHeader(response, "date"))
  },
  {
    id: "protocol.wrong-date",
    does: "Tells the time of its zone as if it were UTC.",
    breaks: "http.date",
    killedBy: "every.date",
    words: "2026 10:00:00 GMT",
    where: {
      at: "http",
      transport:
        (real, { now }) =>
        (request) =>
          Effect.map(real(request), (response) =>
            Rewrite.withHeader(response, "Date", new Date(now() + 3_600_000).toUTCString())
          )
    }
  },
  {
    id: "protocol.accept-406",
    does: "Refuses who accepts no JSON.",
    breaks: "http.accept",
    killedBy: "protocol.accept",
    words: "200 406, remaining",
    where: says((response, request) =>
      /^(?:text|image)\//.test(header(request, "accept") ?? "") ? error(response, 406, "not_found") : response
    )
  },
  {
    id: "protocol.method-override",
    does: "Takes the method from a header.",
    breaks: "http.other-operations",
    killedBy: "protocol.no-override",
    words: "200 405, remaining",
    where: sees((request) => ({
      ...request,
      method: header(request, "x-http-method-override") ?? request.method
    }))
  },
  {
    id: "protocol.redirects",
    does: "Redirects a path with a slash behind it.",
    breaks: "http.no-redirects",
    killedBy: "every.no-redirect",
    words: "no redirect 308",
    where: says((response, { target }) =>
      target.endsWith("/")
        ? Rewrite.withHeader(Rewrite.withStatus(response, 308), "Location", target.replace(/\/+$/, ""))
        : response
    )
  },
  {
    id: "protocol.cors",
    does: "Lets pages of every origin read its answers.",
    breaks: "http.no-cors",
    killedBy: "protocol.no-cors",
    words: "Access-Control-Allow-Origin",
    where: says((response, request) =>
      header(request, "origin") === undefined
        ? response
        : Rewrite.withHeader(response, "Access-Control-Allow-Origin", "*")
    )
  },
  {
    id: "protocol.size-first",
    does: "Looks at the size of a body before anything else.",
    breaks: "http.order-of-checks",
    killedBy: "protocol.order",
    words: "not_found 413",
    where: says((response, { body }) =>
      (body?.length ?? 0) > 65_536 ? error(response, 413, "payload_too_large") : response
    )
  },
  {
    id: "protocol.type-before-method",
    does: "Looks at the content type before the method.",
    breaks: "http.order-of-checks",
    killedBy: "protocol.order",
    words: "method_not_allowed 415",
    where: says((response, request) =>
      response.status === 405 && header(request, "content-type") === "text/plain"
        ? error(response, 415, "unsupported_media_type")
        : response
    )
  },
  {
    id: "protocol.content-before-size",
    does: "Reads the content of a body that is too large.",
    breaks: "http.order-of-checks",
    killedBy: "protocol.order",
    words: "payload_too_large 400",
    where: errs((response) => (response.status === 413 ? error(response, 400, "invalid_json") : response))
  }
]
