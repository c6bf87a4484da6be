/** What holds for all operations: paths, methods, headers and errors (contract §4, §7). */
import * as Effect from "effect/Effect"
import { catalogue } from "../../../core/errors/ErrorCatalogue.ts"
import { expect, type Failure } from "../../engine/Outcome.ts"
import { outcome } from "../../http/Conversation.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { header, text } from "../../http/Wire.ts"
import { type Check, define } from "../Check.ts"
import type { Http, Sent } from "../Http.ts"
import * as Answers from "./Answers.ts"

const NOBODY = "/pets/5318008317345021"

/** Requests that the contract describes, and that fail: 400, 401, and 404 until the operation is removed. */
const described: ReadonlyArray<Sent> = [
  { method: "POST", path: "/pets", json: "{}" },
  { method: "POST", path: "/pets", json: '{"name":"a","categoryId":"1"}' },
  { path: "/pets", key: "none" },
  { path: NOBODY }
]

/** Errors of every kind that can be had without harm. */
const errors: ReadonlyArray<Sent> = [
  ...described,
  { method: "POST", path: "/pets", json: "{" },
  { path: "/pets?limit=0" },
  { path: "/nothing" },
  { method: "PUT", path: "/pets", json: "{}" },
  { method: "POST", path: "/pets", headers: [["Content-Type", "text/plain"]], body: "{}" },
  { method: "POST", path: "/pets", json: " ".repeat(65_537) }
]

/** Sends one of these; those that carry no key may have to wait. */
const send = (http: Http, sent: Sent): Effect.Effect<Exchange, Failure> =>
  sent.key === "none" ? Answers.sendUnknown(http, sent) : http.send(sent)

/** Nothing that exists is changed by these, whatever a server may offer beyond the contract. */
const unknownOperations: ReadonlyArray<Sent> = [
  { path: "/nothing" },
  { path: "/store/orders/none" },
  { path: `${NOBODY}/photos` },
  { path: "/pets/1/2/3/4/5" },
  { path: "/pets%2F1" },
  { path: `/pets/${"9".repeat(2_000)}` },
  { method: "DELETE", path: NOBODY },
  { method: "PUT", path: NOBODY, json: "{}" },
  { method: "PATCH", path: NOBODY, json: "{" },
  { method: "PATCH", path: "/pets", json: "nonsense" },
  { method: "PROPFIND", path: "/pets" }
]

/** Too long, or of an unknown method: what servers say before the service does (RFC 9110 §15, RFC 6585 §5). */
const byTransport: ReadonlySet<number> = new Set([414, 431, 501])

const CONTENT_TYPE = "application/json; charset=utf-8"

const methodsOf = (allow: string | undefined): string =>
  (allow ?? "")
    .split(",")
    .map((method) => method.trim())
    .toSorted()
    .join(", ")

const PETS = "GET, HEAD, OPTIONS, POST"
const PET = "GET, HEAD, OPTIONS"

export const checks: ReadonlyArray<Check> = [
  define({
    id: "protocol.version",
    law: "The base address has the path segment v1.",
    clauses: ["http.version-segment"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 0,
    examples: [undefined],
    holds: ({ facts }) =>
      expect(
        facts.basePath.split("/").includes("v1"),
        "the segment v1 in the base path",
        facts.basePath || "/"
      )
  }),
  define({
    id: "errors.other-operations",
    law: "An error about what the contract does not know carries an Error body too.",
    clauses: ["errors.body"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: unknownOperations.length,
    examples: unknownOperations,
    holds: (http, sent) =>
      Effect.gen(function* () {
        const exchange = yield* http.send(sent)
        const { status } = exchange.response
        if (status < 400 || byTransport.has(status)) return
        yield* Answers.refused(exchange, { status: [status] })
      })
  }),

  // Our answers to the contract's gaps.
  define({
    id: "errors.told-reason",
    law: "The message of a 400 names the field or parameter that is wrong.",
    clauses: ["errors.messages"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 6,
    examples: [
      { sent: { method: "POST", path: "/pets", json: '{"categoryId":1}' }, names: ["name"] },
      {
        sent: { method: "POST", path: "/pets", json: '{"name":"a","categoryId":"1"}' },
        names: ["categoryId"]
      },
      {
        sent: { method: "POST", path: "/pets", json: '{"name":"a","categoryId":1,"status":"x"}' },
        names: ["status"]
      },
      { sent: { method: "POST", path: "/pets", json: "{}" }, names: ["name", "categoryId"] },
      { sent: { path: "/pets?limit=101" }, names: ["limit"] },
      { sent: { path: "/pets?status=none" }, names: ["status"] }
    ] as ReadonlyArray<{ readonly sent: Sent; readonly names: ReadonlyArray<string> }>,
    holds: (http, { names, sent }) =>
      Effect.gen(function* () {
        const { message } = yield* Answers.refused(yield* http.send(sent), { status: [400] })
        const missing = names.filter((name) => !message.includes(name))
        yield* expect(
          missing.length === 0,
          `a message that names ${names.join(" and ")}`,
          PetJson.show(message)
        )
      })
  }),
  define({
    id: "errors.no-trace",
    law: "No message tells of the inside of the program: files, lines, classes of errors.",
    clauses: ["errors.messages"],
    level: "design",
    profile: "core",
    on: "http",
    requests: errors.length,
    examples: errors,
    holds: (http, sent) =>
      Effect.gen(function* () {
        const { response } = yield* send(http, sent)
        const said = text(response.body)
        yield* expect(
          !/\\n|\bat \S+ \(|\.[a-z]{2,4}:[0-9]+|[a-z](?:Error|Exception)\b/.test(said),
          "a message that tells nothing of the program",
          said
        )
      })
  }),
  define({
    id: "protocol.unknown-path",
    law: "A path that does not exist answers 404 not_found: other case, slashes and further segments too.",
    clauses: ["http.unknown-path", "http.paths-exact", "http.other-operations"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 13,
    examples: [
      "/nothing",
      "/store/orders",
      "/categories",
      "",
      "/",
      "/pets/",
      "//pets?a=1",
      "/pets//",
      "/PETS",
      "/Pets",
      "/pets%2F1",
      "/pets%2f",
      "/pets/1/",
      "/pets/1/2",
      "/pets%",
      "/pets%20",
      "/pets%3Flimit=1",
      "/pets;a=1"
    ],
    holds: (http, path) =>
      Effect.gen(function* () {
        yield* Answers.refused(yield* http.send({ path }), { status: [404], code: "not_found" })
      })
  }),
  define({
    id: "protocol.encoded-path",
    law: "A path whose letters are percent-encoded is the same path; encoded twice it is another.",
    clauses: ["http.decoded-once"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 2,
    examples: [
      { path: "/%70ets?limit=1", status: 200 },
      { path: "/%2570ets?limit=1", status: 404 }
    ],
    holds: (http, { path, status }) =>
      Effect.flatMap(http.send({ path }), (exchange) => Answers.hasStatus(exchange, status))
  }),
  define({
    id: "protocol.malformed-escape",
    law: "A malformed percent escape answers 404 in a path and 400 in a query.",
    clauses: ["http.malformed-escape"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 5,
    examples: [
      { path: "/%zz", status: 404, code: "not_found" },
      { path: "/pets?limit=%zz", status: 400, code: "invalid_parameter" },
      { path: "/pets?status=sold%", status: 400, code: "invalid_parameter" },
      { path: "/pets?status=%FF", status: 400, code: "invalid_parameter" }
    ],
    holds: (http, { code, path, status }) =>
      Effect.gen(function* () {
        const exchange = yield* http.send({ path })
        yield* Answers.refused(exchange, { status: [status], code })
      })
  }),
  define({
    id: "protocol.method-not-allowed",
    law: "A method that a path does not have answers 405 method_not_allowed with those that it has in Allow.",
    clauses: ["http.method-not-allowed", "http.other-operations"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 8,
    examples: [
      { method: "PUT", path: "/pets", allow: PETS },
      { method: "PATCH", path: "/pets", allow: PETS },
      { method: "DELETE", path: "/pets", allow: PETS },
      { method: "PROPFIND", path: "/pets", allow: PETS },
      { method: "POST", path: NOBODY, allow: PET },
      { method: "PUT", path: NOBODY, allow: PET },
      { method: "PATCH", path: NOBODY, allow: PET },
      { method: "DELETE", path: NOBODY, allow: PET }
    ],
    holds: (http, { allow, method, path }) =>
      Effect.gen(function* () {
        const exchange = yield* http.send({ method, path })
        yield* Answers.refused(exchange, { status: [405], code: "method_not_allowed" })
        const actual = methodsOf(header(exchange.response, "allow"))
        yield* expect(actual === allow, `Allow with ${allow}`, actual || "no Allow")
      })
  }),
  define({
    id: "protocol.allow",
    law: "A 405 names in Allow the methods that the path has.",
    clauses: ["http.method-not-allowed"],
    level: "design",
    advisedBy: "RFC 9110 §15.5.6",
    profile: "core",
    on: "http",
    requests: 1,
    examples: [{ method: "PATCH", path: "/pets" }],
    holds: (http, sent) =>
      Effect.gen(function* () {
        const { response } = yield* http.send(sent)
        if (response.status !== 405) return
        const allow = header(response, "allow")
        yield* expect(methodsOf(allow).includes("GET"), "Allow with GET on a 405", allow ?? "no Allow")
      })
  }),
  define({
    id: "protocol.head",
    law: "HEAD answers as GET would, without the body.",
    clauses: ["http.head"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 6,
    examples: ["/pets?limit=1", "/nothing", "/pets?limit=0"],
    holds: (http, path) =>
      Effect.gen(function* () {
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
      })
  }),
  define({
    id: "protocol.options",
    law: "OPTIONS answers 204 with Allow.",
    clauses: ["http.options"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 2,
    examples: [
      { path: "/pets", allow: PETS },
      { path: NOBODY, allow: PET }
    ],
    holds: (http, { allow, path }) =>
      Effect.gen(function* () {
        const { response } = yield* http.send({ method: "OPTIONS", path })
        const actual = methodsOf(header(response, "allow"))
        yield* expect(
          response.status === 204 && response.body.length === 0 && actual === allow,
          `204 without a body and Allow with ${allow}`,
          `${outcome(response)}, Allow ${actual || "absent"}`
        )
      })
  }),
  define({
    id: "protocol.request-id",
    law: "No two answers have the same X-Request-Id, nor the one that a client sends.",
    clauses: ["http.request-id"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 4,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const ids = [trial.token]
        for (let request = 0; request < 4; request++) {
          const { response } = yield* http.send({
            path: "/pets?limit=1",
            headers: [["X-Request-Id", trial.token]]
          })
          const id = header(response, "x-request-id") ?? ""
          yield* expect(!ids.includes(id), "an X-Request-Id that no other answer has", id)
          ids.push(id)
        }
      })
  }),
  define({
    id: "protocol.accept",
    law: "Accept is ignored: answers are JSON.",
    clauses: ["http.accept"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 4,
    examples: ["text/html", "application/xml;q=0.9", "image/*", "nonsense"],
    holds: (http, accept) =>
      Effect.gen(function* () {
        const exchange = yield* http.send({ path: "/pets?limit=1", headers: [["Accept", accept]] })
        yield* Answers.hasStatus(exchange, 200)
        const type = header(exchange.response, "content-type")
        yield* expect(type === CONTENT_TYPE, `Content-Type: ${CONTENT_TYPE}`, type ?? "none")
      })
  }),
  define({
    id: "protocol.no-override",
    law: "No header or parameter stands in for the method.",
    clauses: ["http.other-operations"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 3,
    examples: [
      { path: "/pets?limit=1", headers: [["X-HTTP-Method-Override", "DELETE"]] },
      { path: "/pets?limit=1", headers: [["X-Method-Override", "POST"]] },
      { path: "/pets?limit=1&_method=DELETE" }
    ] as ReadonlyArray<Sent>,
    holds: (http, sent) => Effect.flatMap(http.send(sent), (exchange) => Answers.hasStatus(exchange, 200))
  }),
  define({
    id: "protocol.no-cors",
    law: "A page of another origin is not let in: it gets no CORS headers.",
    clauses: ["http.no-cors"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 2,
    examples: ["GET", "OPTIONS"],
    holds: (http, method) =>
      Effect.gen(function* () {
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
      })
  }),
  define({
    id: "protocol.order",
    law: "Of several faults the first in the order path, method, content type, size, content is told.",
    clauses: ["http.order-of-checks"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 5,
    examples: [
      { method: "PUT", path: "/nothing", type: "text/plain", size: 70_000, code: "not_found" },
      { method: "PUT", path: "/pets", type: "text/plain", size: 70_000, code: "method_not_allowed" },
      { method: "POST", path: "/pets", type: "text/plain", size: 70_000, code: "unsupported_media_type" },
      { method: "POST", path: "/pets", type: "application/json", size: 70_000, code: "payload_too_large" },
      { method: "POST", path: "/pets", type: "application/json", size: 10, code: "invalid_json" }
    ] as const,
    holds: (http, { code, method, path, size, type }) =>
      Effect.gen(function* () {
        const exchange = yield* http.send({
          method,
          path,
          headers: [["Content-Type", type]],
          body: "x".repeat(size)
        })
        yield* Answers.refused(exchange, { status: [catalogue[code].status], code })
      })
  })
]
