/** Defines faults in reading the body of a creation: invalid bodies accepted, valid ones rejected, or a failure. */
import * as Result from "effect/Result"
import * as PetJson from "../../http/PetJson.ts"
import { header } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Creations from "../spoilers/Creations.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the content type before the server reads it. */
const readsType = (change: (type: string | undefined) => string | undefined): Where =>
  AtHttp.requests(Requests.isCreation, (request) =>
    Requests.withHeader(request, "Content-Type", change(header(request, "content-type")))
  )

const withoutMark = (body: Uint8Array | undefined): Uint8Array | undefined =>
  body?.[0] === 0xef && body[1] === 0xbb ? body.slice(3) : body

const ACCEPTED_INSTEAD_OF_415 = "415 with an Error body of code unsupported_media_type 201"

export const faults: ReadonlyArray<Fault> = [
  fault("create.category-wraps", "Wraps a category outside int64 instead of rejecting it.")
    .breaks("create.category-range", "create.range", "400 with an Error body 201")
    .by(
      Creations.reads((body) =>
        body.replace(
          /"categoryId":(-?\d{19,})/,
          (_match, digits: string) => `"categoryId":${BigInt.asIntN(64, BigInt(digits))}`
        )
      )
    ),
  fault("create.huge-number-500", "Returns 500 for a number with a huge exponent.")
    .breaks("create.category-range", "create.range", "400 with an Error body 500")
    .by(Creations.failsOn((body) => body.includes("e999999999"))),
  fault("create.text-for-number", 'Accepts "5" as the category 5.')
    .breaks("create.category-type", "create.types", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace(/"categoryId":"(\d+)"/, '"categoryId":$1'))),
  fault("create.cuts-fraction", "Accepts 1.5 as the category 1.")
    .breaks("create.category-type", "create.types", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace(/("categoryId":\d+)\.\d+/, "$1"))),
  fault("create.number-for-name", "Accepts the number 5 as a name.")
    .breaks("create.name-type", "create.types", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace(/"name":(\d+)/, '"name":"$1"'))),
  fault("create.null-name", "Accepts null as a name.")
    .breaks("create.name-type", "create.types", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace('"name":null', '"name":"null"'))),
  fault("create.nameless", 'Stores an animal without a name under the name "unnamed".')
    .breaks("create.name-required", "create.required", "400 with an Error body 201")
    .by(Creations.readsMembers((members) => ({ name: "unnamed", ...members }))),
  fault("create.no-category", "Stores an animal without a category under category 0.")
    .breaks("create.category-required", "create.required", "400 with an Error body 201")
    .by(Creations.readsMembers((members) => ({ categoryId: 0n, ...members }))),
  fault("create.unknown-status", "Accepts an unknown status as available.")
    .breaks("create.status-enum", "create.status-values", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace('"status":"unknown"', '"status":"available"'))),
  fault("create.status-in-any-case", "Ignores the letter case of the status of a creation.")
    .breaks("create.status-enum", "create.status-values", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace(/"status":"[A-Za-z]+"/, (member) => member.toLowerCase()))),
  fault("create.empty-status", "Treats an empty status of a creation as absent.")
    .breaks("create.status-enum", "create.status-values", "400 with an Error body 201")
    .by(Creations.reads((body) => body.replace(',"status":""', ""))),
  fault("create.null-body", "Accepts null as a body.")
    .breaks("create.body-object", "create.object", "400 with an Error body 201")
    .by(Creations.reads((body) => (body === "null" ? '{"name":"null","categoryId":0}' : body))),
  fault("create.malformed-500", "Returns 500 for a body that is not JSON.")
    .breaks("create.json-syntax", "create.unreadable", "4xx with an Error body 500")
    .by(Creations.failsOn((body) => Result.isFailure(PetJson.parse(body)))),
  fault("create.empty-500", "Returns 500 for a missing body.")
    .breaks("create.body-required", "create.unreadable", "4xx with an Error body 500")
    .by(Creations.failsOn((body) => body === "")),
  fault("create.completes-json", "Accepts an unfinished JSON object as if it were closed.")
    .breaks("create.json-syntax", "create.unreadable", "4xx with an Error body 201")
    .by(Creations.reads((body) => (/\d$/.test(body) ? `${body}}` : body))),
  fault("create.stack-overflow", "Returns 500 for thousands of nested brackets.")
    .breaks("errors.no-5xx", "create.deep-nesting", "4xx with an Error body 500")
    .by(Creations.failsOn((body) => body.includes("[".repeat(9_000)))),
  fault("create.lone-surrogate-500", "Returns 500 for a lone surrogate.")
    .breaks("errors.no-5xx", "create.any-body", "4xx with an Error body 500")
    .by(Creations.failsOn((body) => body.includes('\\ud83d"'))),
  fault(
    "create.category-first-digit",
    "Reads only the first digit of a category that is followed by a status."
  )
    .breaks("create.int64-exact", "create.any-body", "categoryId 9, sold")
    .by(Creations.reads((body) => body.replace(/("categoryId":-?\d)\d+(,"status")/, "$1$2"))),
  fault("create.exponent-ignored", "Ignores the exponent of a category, so that 1e3 becomes 1.")
    .breaks("create.int64-exact", "create.integers", "for 1e3, or 400 1")
    .by(Creations.reads((body) => body.replace(/("categoryId":\d+)e\d+/, "$1"))),
  fault("create.cuts-long-name", "Truncates a name that is too long instead of rejecting it.")
    .breaks("create.name-length", "create.name-limits", "invalid_body 201")
    .by(Creations.reads((body) => body.replace(/"name":"(a{255})a+"/, '"name":"$1"'))),
  fault("create.empty-name", "Accepts an empty name.")
    .breaks("create.name-length", "create.name-limits", "invalid_body 201")
    .by(Creations.reads((body) => body.replace('"name":""', '"name":"-"'))),
  fault("create.blank-name", "Accepts a single space as a name.")
    .breaks("create.name-blank", "create.blank-name", "invalid_body 201")
    .by(Creations.reads((body) => body.replace('"name":" "', '"name":"-"'))),
  fault("create.accepts-nul", "Accepts U+0000 in a name.")
    .breaks("create.name-characters", "create.impossible-characters", "invalid_body 201")
    .by(Creations.reads((body) => body.replaceAll("\\u0000", "-"))),
  fault("create.replaces-surrogates", "Replaces a lone surrogate with U+FFFD instead of rejecting it.")
    .breaks("create.name-characters", "create.impossible-characters", "invalid_body 201")
    .by(Creations.reads((body) => body.replaceAll(/\\ud83d(?!\\u)/g, "\\ufffd"))),
  fault("create.digits-only", "Rejects integers that are written with a fraction or an exponent.")
    .breaks("create.category-by-value", "create.by-value", "201 with the Pet 400")
    .by(Creations.reads((body) => body.replace(/("categoryId":)[-\d.]+[eE.][-\d.eE]+/, "$1null"))),
  fault("create.tiny-is-zero", "Rounds a number that is too small for a double to 0.")
    .breaks("create.number-cost", "create.huge-number", '"categoryId":0,"status"')
    .by(Creations.reads((body) => body.replace("1e-999999999", "0"))),
  fault("create.pending-by-default", "Stores an animal without a status as pending.")
    .breaks("create.status-default", "create.default-status", 'available "pending"')
    .by(Creations.readsMembers((members) => ({ status: "pending", ...members }))),
  fault("create.null-status", "Treats a status of null as absent.")
    .breaks("create.status-null", "create.null-status", "invalid_body 201")
    .by(Creations.reads((body) => body.replace(',"status":null', ""))),
  fault("create.rejects-unknown-members", "Rejects creations with unknown members.")
    .breaks("create.unknown-fields", "create.unknown-members", "201 with the Pet 400")
    .by(AtHttp.options({ strict: true })),
  fault("create.ignores-trailing-text", "Ignores text after the JSON value.")
    .breaks("create.json-strict", "create.trailing-text", "of code invalid_json 201")
    .by(Creations.reads((body) => body.slice(0, body.indexOf("}") + 1))),
  fault("create.last-duplicate-wins", "Uses the last of several members with the same name.")
    .breaks("create.json-duplicates", "create.duplicate-names", "of code invalid_json 201")
    .by(Creations.readsMembers((members) => members)),
  fault("create.any-depth", "Accepts bodies that are nested hundreds of levels deep.")
    .breaks("create.json-depth", "create.too-deep", "of code invalid_json 201")
    .by(Creations.readsMembers(({ categoryId, name, status }) => ({ name, categoryId, status }))),
  fault("create.skips-mark", "Ignores a byte order mark at the beginning of a body.")
    .breaks("create.json-utf8", "create.not-utf8", "of code invalid_json 201")
    .by(AtHttp.requests(Requests.isCreation, (request) => ({ ...request, body: withoutMark(request.body) }))),
  fault("create.replaces-invalid-bytes", "Replaces bytes that are not UTF-8 instead of rejecting the body.")
    .breaks("create.json-utf8", "create.not-utf8", "of code invalid_json 201")
    .by(Creations.reads((body) => body)),
  fault("create.any-content-type", "Accepts any content type.")
    .breaks("create.content-type", "create.other-content-types", ACCEPTED_INSTEAD_OF_415)
    .by(readsType(() => "application/json")),
  fault("create.no-content-type", "Reads a body without a content type as JSON.")
    .breaks("create.content-type", "create.other-content-types", ACCEPTED_INSTEAD_OF_415)
    .by(readsType((type) => type ?? "application/json")),
  fault("create.any-charset", "Reads bodies in any charset as UTF-8.")
    .breaks("create.content-type-form", "create.other-content-types", ACCEPTED_INSTEAD_OF_415)
    .by(readsType((type) => type?.replace(/;.*$/, ""))),
  fault("create.literal-content-type", "Accepts only the exact spelling application/json.")
    .breaks("create.content-type-form", "create.content-type-forms", "201 with the Pet 415")
    .by(readsType((type) => (type === "application/json" ? type : "x/y"))),
  fault("create.ignores-coding", "Ignores Content-Encoding.")
    .breaks("create.content-encoding", "create.encoded-body", ACCEPTED_INSTEAD_OF_415)
    .by(
      AtHttp.requests(Requests.isCreation, (request) =>
        Requests.withHeader(request, "Content-Encoding", undefined)
      )
    ),
  fault("create.any-size", "Accepts bodies of up to 1 MiB.")
    .breaks("create.body-size", "create.too-large", "413 with an Error body of code payload_too_large 201")
    .by(AtHttp.options({ maxBodyBytes: 1_048_576 })),
  fault("create.size-in-characters", "Measures the size of a body in characters instead of bytes.")
    .breaks(
      "create.body-size-counted",
      "create.too-large",
      "413 with an Error body of code payload_too_large 201"
    )
    .by(
      Creations.reads((body) =>
        body.length <= 65_536 ? body.replace(/"padding":"[^"]*"/, '"padding":""') : body
      )
    ),
  fault("create.one-byte-less", "Rejects a body of exactly 64 KiB.")
    .breaks("create.body-size-accepted", "create.large", "201 with the Pet 413")
    .by(AtHttp.options({ maxBodyBytes: 65_535 }))
]
