/** Defines faults in reading the body of a creation: invalid bodies accepted, valid ones rejected, or a failure. */
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
  fault("create.huge-number-500", "Returns 500 for a number with a huge exponent.")
    .breaks("create.category-range")
    .by(Creations.failsOn((body) => body.includes("e999999999"))),
  fault("create.completes-json", "Accepts an unfinished JSON object as if it were closed.")
    .breaks("create.json-syntax")
    .by(Creations.reads((body) => (/\d$/.test(body) ? `${body}}` : body))),
  fault("create.stack-overflow", "Returns 500 for thousands of nested brackets.")
    .breaks("errors.no-5xx")
    .by(Creations.failsOn((body) => body.includes("[".repeat(9_000)))),
  fault("create.lone-surrogate-500", "Returns 500 for a lone surrogate.")
    .breaks("errors.no-5xx")
    .by(Creations.failsOn((body) => body.includes('\\ud83d"'))),
  fault("create.exponent-ignored", "Ignores the exponent of a category, so that 1e3 becomes 1.")
    .breaks("create.int64-exact")
    .by(Creations.reads((body) => body.replace(/("categoryId":\d+)e\d+/, "$1"))),
  fault("create.accepts-nul", "Accepts U+0000 in a name.")
    .breaks("create.name-characters")
    .by(Creations.reads((body) => body.replaceAll("\\u0000", "-"))),
  fault("create.ignores-trailing-text", "Ignores text after the JSON value.")
    .breaks("create.json-strict")
    .by(Creations.reads((body) => body.slice(0, body.indexOf("}") + 1))),
  fault("create.last-duplicate-wins", "Uses the last of several members with the same name.")
    .breaks("create.json-duplicates")
    .by(Creations.readsMembers((members) => members)),
  fault("create.any-depth", "Accepts bodies that are nested hundreds of levels deep.")
    .breaks("create.json-depth")
    .by(Creations.readsMembers(({ categoryId, name, status }) => ({ name, categoryId, status }))),
  fault("create.skips-mark", "Ignores a byte order mark at the beginning of a body.")
    .breaks("create.json-utf8")
    .by(AtHttp.requests(Requests.isCreation, (request) => ({ ...request, body: withoutMark(request.body) }))),
  fault("create.replaces-invalid-bytes", "Replaces bytes that are not UTF-8 instead of rejecting the body.")
    .breaks("create.json-utf8")
    .by(Creations.reads((body) => body)),
  fault("create.any-charset", "Reads bodies in any charset as UTF-8.")
    .breaks("create.content-type-form", "create.other-content-types", ACCEPTED_INSTEAD_OF_415)
    .by(readsType((type) => type?.replace(/;.*$/, ""))),
  fault("create.literal-content-type", "Accepts only the exact spelling application/json.")
    .breaks("create.content-type-form")
    .by(readsType((type) => (type === "application/json" ? type : "x/y"))),
  fault("create.ignores-coding", "Ignores Content-Encoding.")
    .breaks("create.content-encoding", "create.encoded-body", ACCEPTED_INSTEAD_OF_415)
    .by(
      AtHttp.requests(Requests.isCreation, (request) =>
        Requests.withHeader(request, "Content-Encoding", undefined)
      )
    ),
  fault("create.any-size", "Accepts bodies of up to 1 MiB.")
    .breaks("create.body-size")
    .by(AtHttp.options({ maxBodyBytes: 1_048_576 })),
  fault("create.size-in-characters", "Measures the size of a body in characters instead of bytes.")
    .breaks("create.body-size-counted")
    .by(
      Creations.reads((body) =>
        body.length <= 65_536 ? body.replace(/"padding":"[^"]*"/, '"padding":""') : body
      )
    ),
  fault("create.one-byte-less", "Rejects a body of exactly 64 KiB.")
    .breaks("create.body-size-accepted")
    .by(AtHttp.options({ maxBodyBytes: 65_535 }))
]
