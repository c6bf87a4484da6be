/** Generates requests: valid requests, boundary values and noise. */
import * as fc from "fast-check"
import type { Sent } from "./Service.fixture.ts"
import type { Header } from "./ServiceResponse.ts"

const noise = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) })
)

const method: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("GET", "POST", "HEAD", "OPTIONS") },
  { weight: 3, arbitrary: fc.constantFrom("PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "FOO", "get", "") },
  { weight: 1, arbitrary: fc.constantFrom("constructor", "__proto__", "toString") },
  { weight: 1, arbitrary: noise }
)

const segment = fc.oneof(
  fc.constantFrom("pets", "v1", "p%65ts", "PETS", "..", ".", "", "%2F", "%zz", "%", "%00", "%2e%2e", "%ff"),
  fc.constantFrom(
    "1",
    "2",
    "01",
    "+1",
    "-0",
    "1.0",
    "1e3",
    "0x1",
    "9223372036854775807",
    "9223372036854775808"
  ),
  fc.constantFrom("__proto__", "constructor", "NaN", "\u0661", "store", "orders", "livez", "openapi.json"),
  noise
)

const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("/v1/pets", "/v1/pets/1") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("/v1/pets/", "/v1", "/", "", "*", "//v1/pets", "/v2/pets", "/pets", "/livez")
  },
  {
    weight: 1,
    arbitrary: fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`)
  },
  {
    weight: 1,
    arbitrary: fc.array(segment, { maxLength: 3 }).map((segments) => `/v1/pets/${segments.join("/")}`)
  },
  { weight: 1, arbitrary: noise }
)

const parameter = fc
  .tuple(
    fc.constantFrom("limit", "status", "cursor", "LIMIT", "limit[]", "x", "%zz", "__proto__"),
    fc.oneof(
      fc.constantFrom("1", "100", "101", "0", "05", "1e1", "sold", "SOLD", "%zz", "%ff", "'", "", "5;6"),
      noise
    )
  )
  .map(([name, value]) => `${name}=${value}`)

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc.array(parameter, { maxLength: 4 }).map((parameters) => `?${parameters.join("&")}`)
  },
  { weight: 1, arbitrary: noise.map((text) => `?${text}`) }
)

const authority = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constantFrom("http://evil.example", "HTTPS://u:p@h:1", "http:", "ftp://h") }
)

const target: fc.Arbitrary<string> = fc.tuple(authority, path, query).map((parts) => parts.join(""))

/** Headers other than `Authorization`. */
const header: fc.Arbitrary<Header> = fc.oneof(
  fc
    .constantFrom(
      "application/json",
      "APPLICATION/JSON; charset=UTF-8",
      "application/json;charset=latin1",
      "text/plain",
      ""
    )
    .map((value): Header => ["Content-Type", value]),
  fc.constantFrom("gzip", "identity", "").map((value): Header => ["Content-Encoding", value]),
  fc.constantFrom("application/xml", "*/*").map((value): Header => ["Accept", value]),
  noise.map((value): Header => ["X-Forwarded-For", value]),
  fc
    .tuple(fc.constantFrom("content-type", "content-encoding", "x-http-method-override", "cookie"), noise)
    .map(([name, value]): Header => [name, value])
)

const body: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc
    .record({
      name: fc.oneof(fc.string({ unit: "grapheme", maxLength: 300 }), noise),
      categoryId: fc.oneof(fc.maxSafeInteger(), fc.double(), fc.string()),
      status: fc.constantFrom("available", "pending", "sold", "SOLD", null)
    })
    .map((value) => JSON.stringify(value)),
  fc.constant('{"name":"Rex","categoryId":7}'),
  fc.json(),
  fc.constantFrom(
    "",
    "{",
    "[]",
    '{"name":"a","name":"b"}',
    '{"name":"x","categoryId":1e999999999}',
    "\ufeff{}"
  ),
  fc.integer({ min: 1, max: 5000 }).map((depth) => "[".repeat(depth)),
  fc.uint8Array({ maxLength: 200 }),
  noise
)

export interface RequestOptions {
  /** Values of `Authorization`; `undefined` omits the header. */
  readonly authorization: fc.Arbitrary<string | undefined>
}

/** Generates any request with one of the given credentials, with noise in every part or in one part only. */
export const sent = ({ authorization }: RequestOptions): fc.Arbitrary<Sent> =>
  fc
    .tuple(
      authorization,
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc.record({ method, target, headers: fc.array(header, { maxLength: 3 }), body })
        },
        {
          weight: 2,
          arbitrary: fc.record({
            method: fc.constant("POST"),
            target: fc.constant("/v1/pets"),
            headers: fc.constant<ReadonlyArray<Header>>([["Content-Type", "application/json"]]),
            body
          })
        },
        {
          weight: 2,
          arbitrary: fc.record({
            method: fc.constantFrom("GET", "GET", "HEAD", "POST"),
            target: fc.tuple(fc.constantFrom("/v1/pets", "/v1/pets/1"), query).map((parts) => parts.join("")),
            headers: fc.array(header, { maxLength: 3 })
          })
        }
      ),
      fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })
    )
    .map(([credential, request, bodyConsumed]) => ({
      ...request,
      bodyConsumed,
      headers:
        credential === undefined
          ? request.headers
          : [["Authorization", credential] as const, ...request.headers]
    }))

/** Requests to operations, valid or slightly invalid. */
export const operation: fc.Arbitrary<Sent> = fc.oneof(
  fc.record({
    method: fc.constantFrom("GET", "HEAD"),
    target: fc.constantFrom("/v1/pets", "/v1/pets?limit=0")
  }),
  fc.record({ method: fc.constantFrom("GET", "HEAD"), target: fc.constantFrom("/v1/pets/1", "/v1/pets/x") }),
  fc.record({
    method: fc.constant("POST"),
    target: fc.constant("/v1/pets"),
    json: fc.constantFrom({ name: "Rex", categoryId: 7 }, { name: "" })
  }),
  fc.record({ method: fc.constantFrom("OPTIONS", "PUT"), target: fc.constantFrom("/v1/pets", "/v1/x") })
)

/** Values of `Authorization` without a valid key. */
export const badAuthorization: fc.Arbitrary<string | undefined> = fc.oneof(
  fc.constantFrom(
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer \t",
    "Basic abc",
    "Bearer a, Bearer b",
    "Bearer %41"
  ),
  fc
    .string({ unit: fc.constantFrom(..."ABCabc012_-"), minLength: 1, maxLength: 40 })
    .map((key) => `Bearer ast_${key}`),
  noise
)
