/** Laws about creations that must be rejected, and their errors (contract §4.2). */
import type { Level } from "../../clauses/Clause.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import { bytes, type Header } from "../../http/Wire.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Responses from "./Responses.ts"

const { PLAIN, withCategory, withName, nestedArrays, withMember, withStatus } = Creations

/** Defines checks that send invalid bodies, given as templates or bytes, and expect the rejection `expected`. */
const rejection =
  (level: Level, expected: Responses.Rejection) =>
  (
    id: string,
    law: string,
    clauses: readonly [ClauseSlug, ...ReadonlyArray<ClauseSlug>],
    bodies: ReadonlyArray<string | Uint8Array>,
    options: { readonly timeoutMs?: number } = {}
  ): Check =>
    family({ level, profile: "core", on: "http", ...options })({
      id,
      law,
      clauses,
      requests: bodies.length,
      examples: bodies,
      holds: (http, body, trial) =>
        Responses.sendInvalid(
          http,
          typeof body === "string" ? Creations.request(http, trial, body) : Creations.withBody(body),
          expected
        )
    })

const badRequest = rejection("spec", { status: [400] })
const invalidBody = rejection("design", { status: [400], code: "invalid_body" })
const invalidJson = rejection("design", { status: [400], code: "invalid_json" })

const spec = family({ level: "spec", profile: "core", on: "http" })
const design = family({ level: "design", profile: "core", on: "http" })

const UNSUPPORTED: Responses.Rejection = { status: [415], code: "unsupported_media_type" }

const SMALL = '{"name":"a","categoryId":1}'

/** Encodes text in little-endian UTF-16 with a byte order mark. */
const utf16 = (content: string): Uint8Array => Uint8Array.from(Buffer.from(`\ufeff${content}`, "utf16le"))

/** Returns SMALL with raw bytes in its name. */
const rawName = (...raw: ReadonlyArray<number>): Uint8Array =>
  Uint8Array.from([...bytes('{"name":"a'), ...raw, ...bytes('","categoryId":1}')])

export const checks: ReadonlyArray<Check> = [
  badRequest(
    "create.required",
    "A creation without name or category is rejected with 400.",
    ["create.name-required", "create.category-required", "errors.listed-statuses"],
    ['{"categoryId":$category}', '{"name":"$name"}', "{}", '{"status":"sold"}']
  ),
  badRequest(
    "create.types",
    "A creation whose name is not a string or whose category is not an integer is rejected with 400.",
    ["create.name-type", "create.category-type"],
    [
      ...["5", "null", "true", '["a"]', '{"a":1}'].map(withName),
      ...['"5"', "1.5", "-0.1", "5e-1", "true", "false", "null", "[5]", "{}", '""'].map(withCategory)
    ]
  ),
  badRequest(
    "create.range",
    "A creation whose category lies outside int64 is rejected with 400.",
    ["create.category-range"],
    "9223372036854775808 -9223372036854775809 18446744073709551617 -18446744073709551617 36893488147419103233 1e19 1e999999999"
      .split(" ")
      .map(withCategory)
  ),
  badRequest(
    "create.status-values",
    "A creation whose status is not one of the three values is rejected with 400.",
    ["create.status-enum"],
    ['"unknown"', '"AVAILABLE"', '"sold out"', '""', "0", "1", "true", '["sold"]', "{}"].map(withStatus)
  ),
  badRequest(
    "create.object",
    "A creation whose body is JSON but not an object is rejected with 400.",
    ["create.body-object"],
    ["null", "true", "1", '"name"', "[]", `[${PLAIN}]`]
  ),
  spec({
    id: "create.deep-nesting",
    law: "A body with very many nested brackets that are never closed is rejected with 4xx within 10 seconds.",
    clauses: ["create.json-syntax", "errors.no-5xx"],
    requests: 3,
    timeoutMs: 10_000,
    examples: [
      { open: "[", levels: 60_000 },
      { open: '{"a":', levels: 12_000 },
      { open: "[", levels: 100_000 }
    ],
    holds: (http, { levels, open }) =>
      Responses.sendInvalid(
        http,
        Creations.withBody(`{"name":"a","categoryId":1,"deep":${open.repeat(levels)}`),
        { status: "4xx" }
      )
  }),

  // Decisions on points that the contract leaves open.
  invalidBody(
    "create.name-limits",
    "An empty name or a name of more than 255 code points is rejected with 400.",
    ["create.name-length"],
    [withName('""'), withName(`"${"a".repeat(256)}"`), withName(`"${"\u{1f408}".repeat(256)}"`)]
  ),
  invalidBody(
    "create.blank-name",
    "A name that consists only of white space is rejected with 400.",
    ["create.name-blank"],
    ['" "', '"\\t\\r\\n"', '"\u00a0\u3000\u2028"'].map(withName)
  ),
  invalidBody(
    "create.impossible-characters",
    "A name with U+0000 or a lone surrogate is rejected with 400.",
    ["create.name-characters"],
    ['"\\u0000"', '"a\\u0000b"', '"a\\ud83d"', '"\\udc08a"', '"\\udc08\\ud83d"'].map(withName)
  ),
  invalidBody(
    "create.huge-number",
    "A number with a huge exponent is rejected with 400 without delay.",
    ["create.number-cost"],
    ["1e999999999", "-1e999999999", "1e-999999999", `1e${"9".repeat(1_000)}`, `0.${"0".repeat(50_000)}1`].map(
      withCategory
    ),
    { timeoutMs: 3_000 }
  ),
  invalidBody(
    "create.null-status",
    "A creation whose status is null is rejected with 400.",
    ["create.status-null"],
    [withStatus("null")]
  ),
  invalidBody(
    "create.codes-of-content",
    "A body that is JSON but not a valid new animal is rejected with 400 invalid_body.",
    ["create.codes"],
    [
      ...["{}", "null", "[]", '[{"name":"$name","categoryId":1}]'],
      ...[withName("5"), withCategory('"5"'), withStatus('"x"')]
    ]
  ),
  invalidJson(
    "create.codes-of-syntax",
    "A body that is not JSON is rejected with 400 invalid_json.",
    ["create.codes", "create.json-syntax", "create.body-required"],
    [
      ...["", "{", "nonsense", "{'name':1}"],
      ...['{"name":"$name","categoryId":01}', '{"name":"a\nb","categoryId":1}']
    ]
  ),
  invalidJson(
    "create.trailing-text",
    "A body with text after its JSON value is rejected with 400.",
    ["create.json-strict"],
    ["x", "{}", ",", "\u0000", "//"].map((tail) => PLAIN + tail)
  ),
  invalidJson(
    "create.duplicate-names",
    "A body that repeats a member name within an object is rejected with 400.",
    ["create.json-duplicates"],
    ['"name":"a"', '"n\\u0061me":"a"', '"a":{"b":1,"b":1}'].map(withMember)
  ),
  invalidJson(
    "create.too-deep",
    "A body nested more than 32 levels deep is rejected with 400.",
    ["create.json-depth"],
    [32, 500].map((levels) => withMember(`"a":${nestedArrays(levels)}`))
  ),
  invalidJson(
    "create.not-utf8",
    "A body that is not UTF-8, or begins with a byte order mark, is rejected with 400.",
    ["create.json-utf8"],
    [
      ...[[0xff], [0xe9], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]].map((raw) =>
        rawName(...raw)
      ),
      bytes(`\ufeff${SMALL}`),
      utf16(SMALL)
    ]
  ),
  design({
    id: "create.other-content-types",
    law: "A creation without the content type application/json in UTF-8 is rejected with 415.",
    clauses: ["create.content-type", "create.content-type-form"],
    requests: 9,
    examples: [
      undefined,
      "text/plain",
      "text/json",
      "application/x-www-form-urlencoded",
      "application/jsonp",
      "application/problem+json",
      "application/json; charset=iso-8859-1",
      "application/json; charset=utf-16",
      "application/json, text/plain"
    ],
    holds: (http, type, trial) => {
      const headers: ReadonlyArray<Header> = type === undefined ? [] : [["Content-Type", type]]
      return Responses.sendInvalid(
        http,
        Creations.withHeaders(headers, Creations.fill(PLAIN, http, trial)),
        UNSUPPORTED
      )
    }
  }),
  design({
    id: "create.encoded-body",
    law: "A creation with a content coding is rejected with 415.",
    clauses: ["create.content-encoding"],
    requests: 3,
    examples: ["gzip", "br", "identity"],
    holds: (http, coding, trial) => {
      const { headers = [], ...sent } = Creations.request(http, trial)
      return Responses.sendInvalid(
        http,
        { ...sent, headers: [...headers, ["Content-Encoding", coding]] },
        UNSUPPORTED
      )
    }
  }),
  design({
    id: "create.too-large",
    law: "A body of more than 64 KiB is rejected with 413, whatever its number of characters.",
    clauses: ["create.body-size", "create.body-size-counted"],
    requests: 3,
    examples: [
      { size: Creations.MAX_BODY_BYTES + 1, padding: " " },
      { size: Creations.MAX_BODY_BYTES + 1, padding: "\u{1f408}" },
      { size: 4 * Creations.MAX_BODY_BYTES, padding: " " }
    ],
    holds: (http, { padding, size }, trial) =>
      Responses.sendInvalid(http, Creations.withPadding(http, trial, size, padding), {
        status: [413],
        code: "payload_too_large"
      })
  })
]
