/** Laws about the paths, methods, headers and errors of all operations (contract §4, §7). */
import * as Effect from "effect/Effect"
import { catalogue } from "../../../core/errors/ErrorCatalogue.ts"
import * as Operations from "../../dimensions/Operations.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure } from "../../evaluation/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { header, text } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, family } from "../Check.ts"
import * as Responses from "./Responses.ts"

const UNKNOWN_ANIMAL = "/pets/5318008317345021"

const creation = (json: string): Sent => ({ method: "POST", path: "/pets", json })

/** Requests that the contract describes and that fail with 400, 401, or 404 (until getPet is removed). */
const described: ReadonlyArray<Sent> = [
  creation("{}"),
  creation('{"name":"a","categoryId":"1"}'),
  { path: "/pets", key: "none" },
  { path: UNKNOWN_ANIMAL }
]

/** Requests for every kind of error that can be caused without side effects. */
const errors: ReadonlyArray<Sent> = [
  ...described,
  creation("{"),
  { path: "/pets?limit=0" },
  { path: "/nothing" },
  { method: "PUT", path: "/pets", json: "{}" },
  { method: "POST", path: "/pets", headers: [["Content-Type", "text/plain"]], body: "{}" },
  creation(" ".repeat(65_537))
]

/** Sends one of these requests; a request without a key waits while the limit of such callers is exceeded. */
const send = (http: Http, sent: Sent): Effect.Effect<Exchange, Failure> =>
  sent.key === "none" ? Responses.sendWithoutKey(http, sent) : http.send(sent)

/** Requests outside the contract that change no existing data, even if a server supports them. */
const unknownOperations: ReadonlyArray<Sent> = [
  { path: "/nothing" },
  { path: "/store/orders/none" },
  { path: `${UNKNOWN_ANIMAL}/photos` },
  { path: "/pets/1/2/3/4/5" },
  { path: "/pets%2F1" },
  { path: `/pets/${"9".repeat(2_000)}` },
  { method: "DELETE", path: UNKNOWN_ANIMAL },
  { method: "PUT", path: UNKNOWN_ANIMAL, json: "{}" },
  { method: "PATCH", path: UNKNOWN_ANIMAL, json: "{" },
  { method: "PATCH", path: "/pets", json: "nonsense" },
  { method: "PROPFIND", path: "/pets" }
]

/** Statuses with which servers reject long targets and unknown methods on their own (RFC 9110 §15, RFC 6585 §5). */
const transportStatuses: ReadonlySet<number> = new Set([414, 431, 501])

const CONTENT_TYPE = "application/json; charset=utf-8"

/** Returns the methods of an Allow header that the contract describes, in sorted order. */
const methodsOf = (allow: string | undefined): string =>
  (allow ?? "")
    .split(",")
    .map((method) => method.trim())
    .filter((method) => !Operations.ownMethods.has(method))
    .toSorted()
    .join(", ")

const PETS = "GET, HEAD, OPTIONS, POST"
const PET = "GET, HEAD, OPTIONS"

const spec = family({ level: "spec", profile: "core", on: "http" })
const design = family({ level: "design", profile: "core", on: "http" })

export const checks: ReadonlyArray<Check> = [
  spec({
    id: "protocol.version",
    law: "The base address has the path segment v1.",
    clauses: ["http.version-segment"],
    requests: 0,
    examples: [undefined],
    holds: ({ facts }) =>
      expect(
        facts.basePath.split("/").includes("v1"),
        "the segment v1 in the base path",
        facts.basePath || "/"
      )
  }),
  spec({
    id: "errors.other-operations",
    law: "An error for a path or method outside the contract also has an Error body.",
    clauses: ["errors.body"],
    requests: unknownOperations.length,
    examples: unknownOperations,
    *holds(http, sent) {
      const exchange = yield* http.send(sent)
      const { status } = exchange.response
      if (status < 400 || transportStatuses.has(status)) return
      yield* Responses.expectRejection(exchange, { status: [status] })
    }
  }),

  // Decisions on points that the contract leaves open.
  design({
    id: "errors.told-reason",
    law: "The message of a 400 names the field or parameter that is wrong.",
    clauses: ["errors.messages"],
    requests: 6,
    examples: [
      { sent: creation('{"categoryId":1}'), names: ["name"] },
      { sent: creation('{"name":"a","categoryId":"1"}'), names: ["categoryId"] },
      { sent: creation('{"name":"a","categoryId":1,"status":"x"}'), names: ["status"] },
      { sent: creation("{}"), names: ["name", "categoryId"] },
      { sent: { path: "/pets?limit=101" }, names: ["limit"] },
      { sent: { path: "/pets?status=none" }, names: ["status"] }
    ] as ReadonlyArray<{ readonly sent: Sent; readonly names: ReadonlyArray<string> }>,
    *holds(http, { names, sent }) {
      const { message } = yield* Responses.expectRejection(yield* http.send(sent), { status: [400] })
      const missing = names.filter((name) => !message.includes(name))
      yield* expect(
        missing.length === 0,
        `a message that names ${names.join(" and ")}`,
        PetJson.show(message)
      )
    }
  }),
  design({
    id: "errors.no-trace",
    law: "No message exposes internals such as file names, line numbers or error classes.",
    clauses: ["errors.messages"],
    requests: errors.length,
    examples: errors,
    *holds(http, sent) {
      const { response } = yield* send(http, sent)
      const body = text(response.body)
      yield* expect(
        !/\\n|\bat \S+ \(|\.[a-z]{2,4}:[0-9]+|[a-z](?:Error|Exception)\b/.test(body),
        "a message without internals of the program",
        body
      )
    }
  }),
  design({
    id: "protocol.unknown-path",
    law: "An unknown path is rejected with 404 not_found, even if only letter case, slashes or segments differ from a known one.",
    clauses: ["http.unknown-path", "http.paths-exact", "http.other-operations"],
    requests: 18,
    examples: [
      ..."/nothing /store/orders /categories  / /pets/ //pets?a=1 /pets// /PETS /Pets /pets%2F1".split(" "),
      ..."/pets%2f /pets/1/ /pets/1/2 /pets% /pets%20 /pets%3Flimit=1 /pets;a=1".split(" ")
    ],
    holds: (http, path) => Responses.sendInvalid(http, { path }, { status: [404], code: "not_found" })
  }),
  design({
    id: "protocol.encoded-path",
    law: "A path with percent-encoded letters is the same path; if they are encoded twice, it is another path.",
    clauses: ["http.decoded-once"],
    requests: 2,
    examples: [
      { path: "/%70ets?limit=1", status: 200 },
      { path: "/%2570ets?limit=1", status: 404 }
    ],
    holds: (http, { path, status }) =>
      Effect.flatMap(http.send({ path }), (exchange) => Responses.expectStatus(exchange, status))
  }),
  design({
    id: "protocol.malformed-escape",
    law: "A malformed percent escape is rejected with 404 in a path and with 400 in a query.",
    clauses: ["http.malformed-escape"],
    requests: 4,
    examples: [
      { path: "/%zz", status: 404, code: "not_found" },
      { path: "/pets?limit=%zz", status: 400, code: "invalid_parameter" },
      { path: "/pets?status=sold%", status: 400, code: "invalid_parameter" },
      { path: "/pets?status=%FF", status: 400, code: "invalid_parameter" }
    ],
    holds: (http, { code, path, status }) => Responses.sendInvalid(http, { path }, { status: [status], code })
  }),
  design({
    id: "protocol.method-not-allowed",
    law: "A method that a path does not support is rejected with 405, and Allow lists the methods that it supports.",
    clauses: ["http.method-not-allowed", "http.other-operations"],
    requests: 8,
    examples: [
      ...["PUT", "PATCH", "DELETE", "PROPFIND"].map((method) => ({ method, path: "/pets", allow: PETS })),
      ...["POST", "PUT", "PATCH", "DELETE"]
        .filter((method) => !Operations.ownMethods.has(method))
        .map((method) => ({ method, path: UNKNOWN_ANIMAL, allow: PET }))
    ],
    *holds(http, { allow, method, path }) {
      const exchange = yield* http.send({ method, path })
      yield* Responses.expectRejection(exchange, { status: [405], code: "method_not_allowed" })
      const actual = methodsOf(header(exchange.response, "allow"))
      yield* expect(actual === allow, `Allow with ${allow}`, actual || "no Allow")
    }
  }),
  design({
    id: "protocol.allow",
    law: "The Allow header of a 405 lists the methods of the path.",
    clauses: ["http.method-not-allowed"],
    advisedBy: "RFC 9110 §15.5.6",
    requests: 1,
    examples: [{ method: "PATCH", path: "/pets" }],
    *holds(http, sent) {
      const { response } = yield* http.send(sent)
      if (response.status !== 405) return
      const allow = header(response, "allow")
      yield* expect(methodsOf(allow).includes("GET"), "Allow with GET on a 405", allow ?? "no Allow")
    }
  }),
  design({
    id: "protocol.head",
    law: "A HEAD request gets the response to GET without the body.",
    clauses: ["http.head"],
    requests: 6,
    examples: ["/pets?limit=1", "/nothing", "/pets?limit=0"],
    *holds(http, path) {
      const get = (yield* http.send({ path })).response
      const head = (yield* http.send({ method: "HEAD", path })).response
      yield* expect(
        head.status === get.status && head.body.length === 0,
        `${get.status} without a body to HEAD`,
        outcome(head)
      )
      for (const name of ["content-type", "cache-control", "allow", "link"]) {
        yield* expect(
          header(head, name) === header(get, name),
          `${name}: ${header(get, name)} to HEAD as to GET`,
          header(head, name) ?? "none"
        )
      }
    }
  }),
  design({
    id: "protocol.options",
    law: "An OPTIONS request gets 204 with Allow.",
    clauses: ["http.options"],
    requests: 2,
    examples: [
      { path: "/pets", allow: PETS },
      { path: UNKNOWN_ANIMAL, allow: PET }
    ],
    *holds(http, { allow, path }) {
      const { response } = yield* http.send({ method: "OPTIONS", path })
      const actual = methodsOf(header(response, "allow"))
      yield* expect(
        response.status === 204 && response.body.length === 0 && actual === allow,
        `204 without a body and Allow with ${allow}`,
        `${outcome(response)}, Allow ${actual || "absent"}`
      )
    }
  }),
  design({
    id: "protocol.request-id",
    law: "Each response has a new X-Request-Id, never one that a client sends.",
    clauses: ["http.request-id"],
    requests: 4,
    examples: [undefined],
    *holds(http, _, trial) {
      const ids = [trial.token]
      for (let request = 0; request < 4; request++) {
        const { response } = yield* http.send({
          path: "/pets?limit=1",
          headers: [["X-Request-Id", trial.token]]
        })
        const id = header(response, "x-request-id") ?? ""
        yield* expect(!ids.includes(id), "an X-Request-Id that no other response has", id)
        ids.push(id)
      }
    }
  }),
  design({
    id: "protocol.accept",
    law: "Accept is ignored: responses are JSON.",
    clauses: ["http.accept"],
    requests: 4,
    examples: ["text/html", "application/xml;q=0.9", "image/*", "nonsense"],
    *holds(http, accept) {
      const exchange = yield* http.send({ path: "/pets?limit=1", headers: [["Accept", accept]] })
      yield* Responses.expectStatus(exchange, 200)
      const type = header(exchange.response, "content-type")
      yield* expect(type === CONTENT_TYPE, `Content-Type: ${CONTENT_TYPE}`, type ?? "none")
    }
  }),
  design({
    id: "protocol.no-override",
    law: "No header or parameter overrides the method.",
    clauses: ["http.other-operations"],
    requests: 3,
    examples: [
      { path: "/pets?limit=1", headers: [["X-HTTP-Method-Override", "DELETE"]] },
      { path: "/pets?limit=1", headers: [["X-Method-Override", "POST"]] },
      { path: "/pets?limit=1&_method=DELETE" }
    ] as ReadonlyArray<Sent>,
    holds: (http, sent) =>
      Effect.flatMap(http.send(sent), (exchange) => Responses.expectStatus(exchange, 200))
  }),
  design({
    id: "protocol.no-cors",
    law: "A request from another origin gets no CORS headers.",
    clauses: ["http.no-cors"],
    requests: 2,
    examples: ["GET", "OPTIONS"],
    *holds(http, method) {
      const { response } = yield* http.send({
        method,
        path: "/pets?limit=1",
        headers: [
          ["Origin", "https://example.org"],
          ["Access-Control-Request-Method", "POST"]
        ]
      })
      const cors = response.headers.filter(([name]) => /^access-control-/i.test(name))
      yield* expect(cors.length === 0, "no CORS headers", cors.map(([name]) => name).join(", "))
    }
  }),
  design({
    id: "protocol.order",
    law: "A request with several errors gets the first one in this order: path, method, content type, size, content.",
    clauses: ["http.order-of-checks"],
    requests: 5,
    examples: [
      { method: "PUT", path: "/nothing", type: "text/plain", size: 70_000, code: "not_found" },
      { method: "PUT", path: "/pets", type: "text/plain", size: 70_000, code: "method_not_allowed" },
      { method: "POST", path: "/pets", type: "text/plain", size: 70_000, code: "unsupported_media_type" },
      { method: "POST", path: "/pets", type: "application/json", size: 70_000, code: "payload_too_large" },
      { method: "POST", path: "/pets", type: "application/json", size: 10, code: "invalid_json" }
    ] as const,
    holds: (http, { code, method, path, size, type }) =>
      Responses.sendInvalid(
        http,
        { method, path, headers: [["Content-Type", type]], body: "x".repeat(size) },
        { status: [catalogue[code].status], code }
      )
  })
]
