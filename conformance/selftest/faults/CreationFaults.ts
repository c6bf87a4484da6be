/** Faults in reading the body of a creation, and in what a creation stores. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import * as PetJson from "../../http/PetJson.ts"
import { bytes, header, type Transport, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where, type World } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the body of a creation for which `isAffected` is true, by default of each, before the server reads it. */
const reads = (
  change: (body: string) => string,
  isAffected: (request: WireRequest, world: World) => boolean = () => true
): Where =>
  AtHttp.requests(
    (request, world) => Requests.isCreation(request) && isAffected(request, world),
    (request) => ({ ...request, body: bytes(change(text(request.body))) })
  )

/** Changes the members of a JSON body as `reads` changes a body. */
const readsMembers = (
  change: (members: { readonly [name: string]: unknown }) => unknown,
  isAffected?: (request: WireRequest, world: World) => boolean
): Where =>
  reads(
    (body) =>
      Result.match(PetJson.parse(body), {
        onSuccess: (value) =>
          typeof value === "object" && value !== null && !Array.isArray(value)
            ? Edit.write(change({ ...value }))
            : body,
        onFailure: () => body
      }),
    isAffected
  )

/** Returns 500 for creations with these bodies. */
const failsOn = (isFatal: (body: string) => boolean): Where =>
  AtHttp.responses(
    { to: (request) => Requests.isCreation(request) && isFatal(text(request.body)) },
    Edit.error(500, "internal_error")
  )

const nameIn = (request: WireRequest): string | undefined => /"name":("[^"]*")/.exec(text(request.body))?.[1]

/** After a creation was rejected with this status, stores an animal with the name in the rejected body. */
const storesAfter =
  (status: number, authorized: (request: WireRequest) => WireRequest) =>
  (real: Transport): Transport =>
  (request) =>
    Effect.tap(real(request), (response) => {
      const name = nameIn(request)
      return response.status === status && Requests.isCreation(request) && name !== undefined
        ? real(authorized({ ...request, body: bytes(`{"name":${name},"categoryId":0,"status":"sold"}`) }))
        : Effect.void
    })

/** Responds to a repeated body with the animal that the first creation stored. */
const oncePerBody = (real: Transport): Transport => {
  const earlier = new Map<string, WireResponse>()
  return (request) => {
    const body = text(request.body)
    const before = Requests.isCreation(request) ? earlier.get(body) : undefined
    if (before !== undefined) {
      // Lists animals to get up-to-date headers.
      return Effect.map(real({ ...request, method: "GET", body: undefined }), ({ headers }) => ({
        ...before,
        headers
      }))
    }
    return Effect.map(real(request), (response) => {
      if (response.status === 201) earlier.set(body, response)
      return response
    })
  }
}

/** Readers that correct some invalid bodies: `from` becomes `to` before the server parses the body. */
const lenient: ReadonlyArray<readonly [id: string, clause: ClauseSlug, from: RegExp, to: string]> = [
  ["text after it", "create.json-strict", /^(\{[^{}]*\}).+$/s, "$1"],
  ["a comma at its end", "create.json-syntax", /,\s*\}/, "}"],
  ["a comment before it", "create.json-syntax", /^\s*(?:\/\*.*?\*\/|(?:\/\/|#)[^\n]*\n)/s, ""],
  ["a comment inside", "create.json-syntax", /(\{|,)\s*\/\*.*?\*\//s, "$1"],
  ["names without quotes", "create.json-syntax", /([{,]\s*)([a-zA-Z]+)\s*:/g, '$1"$2":'],
  ["a category with zeros first", "create.json-syntax", /("categoryId":\s*)0+(\d)/, "$1$2"],
  ["a category with a plus sign", "create.json-syntax", /("categoryId":\s*)\+(\d)/, "$1$2"],
  ["a category of NaN", "create.json-syntax", /"categoryId":\s*(?:NaN|-?Infinity)/, '"categoryId":0'],
  ["no brace at its end", "create.json-syntax", /([^{},:\s])$/, "$1}"],
  ["a line feed in the name", "create.json-syntax", /("name":"[^"\n]*)\n([^"]*")/, "$1\\n$2"],
  ["a name member in capitals", "create.name-required", /"(?:Name|NAME)"\s*:/, '"name":'],
  ["a category member in small letters", "create.category-required", /"categoryid"\s*:/, '"categoryId":'],
  ["a name in a list", "create.name-type", /"name":\s*\[\s*("[^"]*")\s*\]/, '"name":$1'],
  ["a category as text", "create.category-type", /"categoryId":\s*"(-?\d+)"/, '"categoryId":$1'],
  ["a category of true", "create.category-type", /"categoryId":\s*true/, '"categoryId":1'],
  ["a category of null", "create.category-type", /"categoryId":\s*null/, '"categoryId":0'],
  ["a category of 2^63", "create.category-range", /9223372036854775808/, "9223372036854775807"],
  ["a category of 1e400", "create.category-range", /("categoryId":\s*)[0-9.]+e\+?[0-9]{3,}/i, "$10"],
  ["an empty status", "create.status-enum", /,\s*"status":\s*""/, ""],
  ["a list around it", "create.body-object", /^\s*\[\s*(\{.*\})\s*\]\s*$/s, "$1"],
  ["an exponent that is lost", "create.int64-exact", /("categoryId":\d+)e\d+/, "$1"],
  ["NUL in the name", "create.name-characters", /\\u0000/g, "-"]
]

const ofType = (type: RegExp) => (request: WireRequest) => type.test(header(request, "content-type") ?? "")

export const faults: ReadonlyArray<Fault> = [
  ...lenient.map(([id, clause, from, to]) =>
    fault(`create.reads ${id}`.replaceAll(" ", "-"), `Accepts a creation with ${id}.`)
      .breaks(clause)
      .by(reads((body) => body.replace(from, to)))
  ),
  fault("create.huge-number-500", "Returns 500 for a number with a huge exponent.")
    .breaks("errors.no-5xx")
    .by(failsOn((body) => body.includes("e999999999"))),
  fault("create.stack-overflow", "Returns 500 for thousands of nested brackets.")
    .breaks("errors.no-5xx-anywhere")
    .by(failsOn((body) => body.includes("[".repeat(9_000)))),
  fault("create.last-duplicate-wins", "Uses the last of several members with the same name.")
    .breaks("create.json-duplicates")
    .by(readsMembers((members) => members)),
  fault("create.replaces-invalid-bytes", "Replaces bytes that are not UTF-8 instead of rejecting the body.")
    .breaks("create.json-utf8")
    .by(reads((body) => body)),
  fault("create.literal-content-type", "Accepts only the exact spelling application/json.")
    .breaks("create.content-type")
    .by(
      AtHttp.requests(ofType(/^(?!application\/json$)/), (request) =>
        Requests.withHeader(request, "Content-Type", "x/y")
      )
    ),
  fault("create.charset-status", "Loses the status of a creation whose content type has a charset.")
    .breaks("create.status-kept")
    .by(readsMembers(({ categoryId, name }) => ({ name, categoryId }), ofType(/charset/i))),
  fault("create.chunked-latin", "Reads a chunked body as ISO 8859-1.")
    .breaks("create.returns-created")
    .by(
      AtHttp.requests(
        (request) => header(request, "transfer-encoding") === "chunked",
        (request) => ({ ...request, body: Buffer.from(Buffer.from(request.body ?? []).toString("latin1")) })
      )
    ),
  fault("create.any-size", "Accepts bodies of up to 1 MiB.")
    .breaks("create.body-size")
    .by(AtHttp.options({ maxBodyBytes: 1_048_576 })),
  fault("create.one-byte-less", "Rejects a body of exactly 64 KiB.")
    .breaks("create.body-size")
    .by(AtHttp.options({ maxBodyBytes: 65_535 })),
  fault("create.client-id", "Returns the id that the client sent instead of the assigned id.")
    .breaks("resources.id-unique")
    .by(
      AtHttp.responses({ to: Requests.isCreation, status: 201 }, (response, request) => {
        const id = /"id":\d+/.exec(text(request.body))?.[0]
        return Edit.rewritten((body) => (id === undefined ? body : body.replace(/"id":-?\d+/, id)))(response)
      })
    ),
  fault(
    "create.once-per-body",
    "Stores one animal for two creations with equal bodies, and returns it twice."
  )
    .breaks("resources.id-unique")
    .by(AtHttp.transport(oncePerBody)),
  ...([400, 401, 429] as const).map((status) =>
    fault(`create.stored-after-${status}`, `Stores the animal of a creation that gets ${status}.`)
      .breaks(
        status === 400
          ? "create.refused-unstored"
          : status === 401
            ? "auth.refused-unstored"
            : "limits.refused-unstored"
      )
      .by(
        AtHttp.transport((real, { keys }) =>
          storesAfter(status, (request) => Requests.withKey(request, keys.main))(real)
        )
      )
  )
]
