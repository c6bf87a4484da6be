/** Backends with a fault in creations. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import * as PetJson from "../../http/PetJson.ts"
import { bytes, header, type Transport, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Fault, Spoil, Where } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

/** Stores something else than what it was given. */
const stores = (change: (pet: NewPet) => NewPet): Where => ({
  at: "http",
  pets: (real) => ({ ...real, insert: (pet) => real.insert(change(pet)) })
})

const named = (change: (name: string) => string): Where =>
  stores((pet) => ({ ...pet, name: change(pet.name) }))

const inCategory = (change: (category: bigint) => bigint): Where =>
  stores((pet) => ({ ...pet, categoryId: change(pet.categoryId) }))

/** Reads something else than the body that came. */
const reads = (change: (body: string) => string): Where => ({
  at: "http",
  transport: Rewrite.requests((request) =>
    Rewrite.isCreation(request) ? { ...request, body: bytes(change(text(request.body))) } : request
  )
})

/** Reads the body as JSON with what `change` makes of its members. */
const readsMembers = (change: (members: { readonly [name: string]: unknown }) => unknown): Where =>
  reads((body) =>
    Result.match(PetJson.parse(body), {
      onSuccess: (value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? Rewrite.write(change({ ...value }))
          : body,
      onFailure: () => body
    })
  )

/** Answers creations otherwise. */
const says = (change: (response: WireResponse, body: string) => WireResponse): Where => ({
  at: "http",
  transport: Rewrite.answers((response, request) =>
    Rewrite.isCreation(request) ? change(response, text(request.body)) : response
  )
})

const saysIfCreated = (change: (response: WireResponse, body: string) => WireResponse): Where =>
  says((response, body) => (response.status === 201 ? change(response, body) : response))

/** Fails within on such bodies. */
const breaksOn = (isFatal: (body: string) => boolean): Where =>
  says((response, body) =>
    isFatal(body)
      ? Rewrite.withBody(
          Rewrite.withStatus(response, 500),
          '{"code":"internal_error","message":"Something went wrong.","status":500}'
        )
      : response
  )

const withHeader = (request: WireRequest, name: string, value: string | undefined): WireRequest => {
  const others = request.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] }
}

/** Sees other headers than came. */
const sees = (change: (request: WireRequest) => WireRequest): Where => ({
  at: "http",
  transport: Rewrite.requests((request) => (Rewrite.isCreation(request) ? change(request) : request))
})

/** Stores an animal of the name in a body that it then refuses. */
const storesAfter =
  (status: number, key: (request: WireRequest) => WireRequest) =>
  (real: Transport): Transport =>
  (request) =>
    Effect.tap(real(request), (response) => {
      const name = /"name":("[^"]*")/.exec(text(request.body))?.[1]
      return response.status === status && Rewrite.isCreation(request) && name !== undefined
        ? real(key({ ...request, body: bytes(`{"name":${name},"categoryId":0,"status":"sold"}`) }))
        : Effect.void
    })

const forgetful: Spoil<PetRepository["Service"]> = (real) => {
  let id = 0n
  return {
    ...real,
    insert: (pet) => Effect.sync(() => new Pet(++id, pet)),
    find: () => Effect.succeed(Option.none())
  }
}

/** Takes a second animal of a name for a mistake. */
const uniqueNames = (real: Transport): Transport => {
  const names = new Set<string>()
  return (request) => {
    const name = /"name":("[^"]*")/.exec(text(request.body))?.[1] ?? ""
    if (!Rewrite.isCreation(request) || !names.has(name)) {
      names.add(name)
      return real(request)
    }
    return real({ ...request, body: bytes("{}") })
  }
}

/** Answers a creation with the animal that the same body made before. */
const oncePerBody = (real: Transport): Transport => {
  const answered = new Map<string, WireResponse>()
  return (request) => {
    const body = text(request.body)
    const before = Rewrite.isCreation(request) ? answered.get(body) : undefined
    if (before !== undefined) {
      // A list in its place, for headers that are up to date.
      return Effect.map(real({ ...request, method: "GET", body: undefined }), ({ headers }) => ({
        ...before,
        headers
      }))
    }
    return Effect.map(real(request), (response) => {
      if (response.status === 201) answered.set(body, response)
      return response
    })
  }
}

const withoutMore = ({ categoryId, name, status }: { readonly [name: string]: unknown }) => ({
  name,
  categoryId,
  status
})

const withoutMarks = (body: Uint8Array | undefined): Uint8Array | undefined =>
  body?.[0] === 0xef && body[1] === 0xbb ? body.slice(3) : body

export const faults: ReadonlyArray<Fault> = [
  {
    id: "create.not-stored",
    does: "Answers a creation with the animal and forgets it.",
    breaks: "get.found",
    killedBy: "get.created",
    words: "200 with the Pet 404",
    where: { at: "http", pets: forgetful }
  },
  {
    id: "create.lower-cases-name",
    does: "Stores names in lower case.",
    breaks: "create.returns-created",
    killedBy: "create.created",
    words: "the animal as sent",
    where: named((name) => name.toLowerCase())
  },
  {
    id: "create.ignores-status",
    does: "Takes every new animal for available.",
    breaks: "create.status-kept",
    killedBy: "create.created",
    words: "the animal as sent",
    where: stores((pet) => ({ ...pet, status: "available" }))
  },
  {
    id: "create.answers-200",
    does: "Answers a creation with 200.",
    breaks: "create.status-201",
    killedBy: "create.created",
    words: "201 with the Pet 200",
    where: saysIfCreated((response) => Rewrite.withStatus(response, 200))
  },
  {
    id: "create.answers-empty",
    does: "Answers a creation with 201 and nothing.",
    breaks: "create.returns-created",
    killedBy: "create.created",
    words: 'no JSON: ""',
    where: saysIfCreated((response) => Rewrite.withBody(response, ""))
  },
  {
    id: "create.category-as-text",
    does: "Shows the category as a JSON string.",
    breaks: "resources.pet-types",
    killedBy: "create.created",
    words: "categoryId is no int64",
    where: saysIfCreated((response) =>
      Rewrite.withBody(response, text(response.body).replace(/"categoryId":(-?\d+)/, '"categoryId":"$1"'))
    )
  },
  {
    id: "create.without-id",
    does: "Leaves the id out of its answer.",
    breaks: "create.id-assigned",
    killedBy: "create.created",
    words: "id is no int64",
    where: saysIfCreated((response) =>
      Rewrite.withBody(response, text(response.body).replace(/"id":-?\d+,/, ""))
    )
  },
  {
    id: "create.category-as-double",
    does: "Reads the category into a double.",
    breaks: "create.int64-exact",
    killedBy: "catalogue.category-exact",
    words: "categoryId -9223372036854775808, pending",
    where: inCategory((category) => BigInt.asIntN(64, BigInt(Number(category))))
  },
  {
    id: "create.category-int32",
    does: "Keeps 32 bits of the category.",
    breaks: "create.int64-exact",
    killedBy: "catalogue.category-exact",
    words: "categoryId -1, pending",
    where: inCategory((category) => BigInt.asIntN(32, category))
  },
  {
    id: "create.category-wraps",
    does: "Lets a category outside int64 run over.",
    breaks: "create.category-range",
    killedBy: "create.range",
    words: "400 with an Error body 201",
    where: reads((body) =>
      body.replace(
        /"categoryId":(-?\d{19,})/,
        (_, digits: string) => `"categoryId":${BigInt.asIntN(64, BigInt(digits))}`
      )
    )
  },
  {
    id: "create.huge-number-500",
    does: "Fails within on a number with a huge exponent.",
    breaks: "create.category-range",
    killedBy: "create.range",
    words: "400 with an Error body 500",
    where: breaksOn((body) => /e999999999/.test(body))
  },
  {
    id: "create.text-for-number",
    does: 'Takes a category of "5" for 5.',
    breaks: "create.category-type",
    killedBy: "create.types",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace(/"categoryId":"(\d+)"/, '"categoryId":$1'))
  },
  {
    id: "create.cuts-fraction",
    does: "Takes a category of 1.5 for 1.",
    breaks: "create.category-type",
    killedBy: "create.types",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace(/("categoryId":\d+)\.\d+/, "$1"))
  },
  {
    id: "create.number-for-name",
    does: "Takes a name of 5 for that text.",
    breaks: "create.name-type",
    killedBy: "create.types",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace(/"name":(\d+)/, '"name":"$1"'))
  },
  {
    id: "create.null-name",
    does: "Stores an animal whose name is null.",
    breaks: "create.name-type",
    killedBy: "create.types",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace('"name":null', '"name":"null"'))
  },
  {
    id: "create.nameless",
    does: "Accepts a creation without a name.",
    breaks: "create.name-required",
    killedBy: "create.required",
    words: "400 with an Error body 201",
    where: readsMembers((members) => ({ name: "unnamed", ...members }))
  },
  {
    id: "create.no-category",
    does: "Puts an animal without category into category 0.",
    breaks: "create.category-required",
    killedBy: "create.required",
    words: "400 with an Error body 201",
    where: readsMembers((members) => ({ categoryId: 0n, ...members }))
  },
  {
    id: "create.answers-422",
    does: "Answers missing fields with 422.",
    breaks: "errors.listed-statuses",
    killedBy: "create.required",
    words: "400 with an Error body 422",
    where: says((response) =>
      response.status === 400
        ? Rewrite.withStatus(
            Rewrite.withJson(response, (error) => ({ ...Object(error), status: 422n })),
            422
          )
        : response
    )
  },
  {
    id: "create.unknown-status",
    does: "Takes an unknown status for available.",
    breaks: "create.status-enum",
    killedBy: "create.status-values",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace('"status":"unknown"', '"status":"available"'))
  },
  {
    id: "create.status-in-any-case",
    does: "Reads the status without regard to case.",
    breaks: "create.status-enum",
    killedBy: "create.status-values",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace(/"status":"[A-Za-z]+"/, (member) => member.toLowerCase()))
  },
  {
    id: "create.empty-status",
    does: "Takes an empty status for none.",
    breaks: "create.status-enum",
    killedBy: "create.status-values",
    words: "400 with an Error body 201",
    where: reads((body) => body.replace(',"status":""', ""))
  },
  {
    id: "create.null-body",
    does: "Stores a nameless animal for a body of null.",
    breaks: "create.body-object",
    killedBy: "create.object",
    words: "400 with an Error body 201",
    where: reads((body) => (body === "null" ? '{"name":"null","categoryId":0}' : body))
  },
  {
    id: "create.malformed-500",
    does: "Fails within on a body that is no JSON.",
    breaks: "create.json-syntax",
    killedBy: "create.unreadable",
    words: "4xx with an Error body 500",
    where: breaksOn((body) => Result.isFailure(PetJson.parse(body)))
  },
  {
    id: "create.empty-500",
    does: "Fails within on a body that is missing.",
    breaks: "create.body-required",
    killedBy: "create.unreadable",
    words: "4xx with an Error body 500",
    where: breaksOn((body) => body === "")
  },
  {
    id: "create.mends-json",
    does: "Closes what a body leaves open.",
    breaks: "create.json-syntax",
    killedBy: "create.unreadable",
    words: "4xx with an Error body 201",
    where: reads((body) => (/\d$/.test(body) ? `${body}}` : body))
  },
  {
    id: "create.stack-overflow",
    does: "Fails within on thousands of brackets.",
    breaks: "errors.no-5xx",
    killedBy: "create.deep-nesting",
    words: "4xx with an Error body 500",
    where: breaksOn((body) => body.includes("[".repeat(9_000)))
  },
  {
    id: "create.lone-surrogate-500",
    does: "Fails within on a lone surrogate.",
    breaks: "errors.no-5xx",
    killedBy: "create.any-body",
    words: "4xx with an Error body 500",
    where: breaksOn((body) => body.includes('\\ud83d"'))
  },
  {
    id: "create.short-memory",
    does: "Cuts the digits of a category that it reads beside a status.",
    breaks: "create.int64-exact",
    killedBy: "create.any-body",
    words: "categoryId 9, sold",
    where: reads((body) => body.replace(/("categoryId":-?\d)\d+(,"status")/, "$1$2"))
  },
  {
    id: "create.exponent-ignored",
    does: "Takes 1e3 for 1.",
    breaks: "create.int64-exact",
    killedBy: "create.integers",
    words: "for 1e3, or 400 1",
    where: reads((body) => body.replace(/("categoryId":\d+)e\d+/, "$1"))
  },
  {
    id: "create.client-id",
    does: "Gives an animal the id that the client sends.",
    breaks: "create.id-assigned",
    killedBy: "create.own-id",
    words: "that was sent",
    where: saysIfCreated((response, body) => {
      const id = /"id":(\d+)/.exec(body)?.[1]
      return id === undefined
        ? response
        : Rewrite.withBody(response, text(response.body).replace(/"id":-?\d+/, `"id":${id}`))
    })
  },
  {
    id: "create.once-per-body",
    does: "Stores one animal for two creations of one body, and answers both with 201.",
    breaks: "resources.id-unique",
    killedBy: "create.twice",
    words: "second animal of one body the id",
    where: { at: "http", transport: oncePerBody }
  },
  {
    id: "create.stored-before-validated",
    does: "Stores an animal first and validates it then.",
    breaks: "create.refused-unstored",
    killedBy: "create.refused-stores-nothing",
    words: "no animal of a refused creation",
    where: { at: "http", transport: storesAfter(400, (request) => request) }
  },
  {
    id: "create.stored-without-key",
    does: "Answers a creation without a key with 401, and carries it out.",
    breaks: "auth.refused-unstored",
    killedBy: "create.unauthorized-stores-nothing",
    words: "no animal of a refused creation",
    where: {
      at: "http",
      transport: (real, { keys }) =>
        storesAfter(401, (request) => withHeader(request, "Authorization", `Bearer ${keys.main}`))(real)
    }
  },

  // Against our own answers to the contract's gaps.

  {
    id: "create.drops-emoji",
    does: "Stores names without emoji.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "as it was created",
    where: named((name) => name.replace(/\p{Extended_Pictographic}/gu, ""))
  },
  {
    id: "create.trims-name",
    does: "Trims names.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "as it was created",
    where: named((name) => name.trim())
  },
  {
    id: "create.normalises-name",
    does: "Stores names in NFC.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "as it was created",
    where: named((name) => name.normalize("NFC"))
  },
  {
    id: "create.escapes-html",
    does: "Stores names escaped for HTML.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "&lt;b>",
    where: named((name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;"))
  },
  {
    id: "create.counts-units",
    does: "Cuts names after 255 UTF-16 units.",
    breaks: "create.name-length",
    killedBy: "create.longest-name",
    words: "the animal as sent",
    where: named((name) => name.slice(0, 255))
  },
  {
    id: "create.cuts-long-name",
    does: "Accepts longer names and cuts them.",
    breaks: "create.name-length",
    killedBy: "create.name-limits",
    words: "invalid_body 201",
    where: reads((body) => body.replace(/"name":"(a{255})a+"/, '"name":"$1"'))
  },
  {
    id: "create.empty-name",
    does: "Accepts an empty name.",
    breaks: "create.name-length",
    killedBy: "create.name-limits",
    words: "invalid_body 201",
    where: reads((body) => body.replace('"name":""', '"name":"-"'))
  },
  {
    id: "create.blank-name",
    does: "Accepts a name of a space.",
    breaks: "create.name-blank",
    killedBy: "create.blank-name",
    words: "invalid_body 201",
    where: reads((body) => body.replace('"name":" "', '"name":"-"'))
  },
  {
    id: "create.takes-nul",
    does: "Accepts U+0000 in a name.",
    breaks: "create.name-characters",
    killedBy: "create.impossible-characters",
    words: "invalid_body 201",
    where: reads((body) => body.replaceAll("\\u0000", "-"))
  },
  {
    id: "create.replaces-surrogates",
    does: "Replaces a lone surrogate by U+FFFD.",
    breaks: "create.name-characters",
    killedBy: "create.impossible-characters",
    words: "invalid_body 201",
    where: reads((body) => body.replaceAll(/\\ud83d(?!\\u)/g, "\\ufffd"))
  },
  {
    id: "create.unique-names",
    does: "Refuses a second animal of the same name.",
    breaks: "create.name-not-unique",
    killedBy: "create.same-name",
    words: "201 with the Pet 400",
    where: { at: "http", transport: uniqueNames }
  },
  {
    id: "create.digits-only",
    does: "Refuses integers that are written with a fraction or an exponent.",
    breaks: "create.category-by-value",
    killedBy: "create.by-value",
    words: "201 with the Pet 400",
    where: reads((body) => body.replace(/("categoryId":)[-\d.]+[eE.][-\d.eE]+/, "$1null"))
  },
  {
    id: "create.tiny-is-zero",
    does: "Takes a number too small for a double for 0.",
    breaks: "create.number-cost",
    killedBy: "create.huge-number",
    words: '"categoryId":0,"status"',
    where: reads((body) => body.replace("1e-999999999", "0"))
  },
  {
    id: "create.pending-by-default",
    does: "Takes an animal without a status for pending.",
    breaks: "create.status-default",
    killedBy: "create.default-status",
    words: 'available "pending"',
    where: readsMembers((members) => ({ status: "pending", ...members }))
  },
  {
    id: "create.null-status",
    does: "Takes a status of null for none.",
    breaks: "create.status-null",
    killedBy: "create.null-status",
    words: "invalid_body 201",
    where: reads((body) => body.replace(',"status":null', ""))
  },
  {
    id: "create.refuses-unknown-members",
    does: "Refuses members that the contract does not name.",
    breaks: "create.unknown-fields",
    killedBy: "create.unknown-members",
    words: "201 with the Pet 400",
    where: { at: "http", options: { strict: true } }
  },
  {
    id: "create.shows-unknown-members",
    does: "Shows members that it does not know.",
    breaks: "create.unknown-fields",
    killedBy: "create.unknown-members",
    words: "categoryId, status, colour",
    where: saysIfCreated((response, body) =>
      body.includes('"colour"')
        ? Rewrite.withJson(response, (pet) => ({ ...Object(pet), colour: "red" }))
        : response
    )
  },
  {
    id: "create.json-code-for-content",
    does: "Calls every bad body invalid_json.",
    breaks: "create.codes",
    killedBy: "create.codes-of-content",
    words: "of code invalid_body 400",
    where: says((response) =>
      Rewrite.withBody(response, text(response.body).replace("invalid_body", "invalid_json"))
    )
  },
  {
    id: "create.content-code-for-json",
    does: "Calls every bad body invalid_body.",
    breaks: "create.codes",
    killedBy: "create.codes-of-syntax",
    words: "of code invalid_json 400",
    where: says((response) =>
      Rewrite.withBody(response, text(response.body).replace("invalid_json", "invalid_body"))
    )
  },
  {
    id: "create.ignores-trailing-text",
    does: "Reads no further than the JSON value.",
    breaks: "create.json-strict",
    killedBy: "create.trailing-text",
    words: "of code invalid_json 201",
    where: reads((body) => body.slice(0, body.indexOf("}") + 1))
  },
  {
    id: "create.last-duplicate-wins",
    does: "Takes the last of two members of one name.",
    breaks: "create.json-duplicates",
    killedBy: "create.duplicate-names",
    words: "of code invalid_json 201",
    where: readsMembers((members) => members)
  },
  {
    id: "create.any-depth",
    does: "Reads bodies nested hundreds of levels deep.",
    breaks: "create.json-depth",
    killedBy: "create.too-deep",
    words: "of code invalid_json 201",
    where: readsMembers(withoutMore)
  },
  {
    id: "create.skips-mark",
    does: "Skips a byte order mark.",
    breaks: "create.json-utf8",
    killedBy: "create.not-utf8",
    words: "of code invalid_json 201",
    where: sees((request) => ({ ...request, body: withoutMarks(request.body) }))
  },
  {
    id: "create.replaces-bad-bytes",
    does: "Replaces bytes that are not UTF-8.",
    breaks: "create.json-utf8",
    killedBy: "create.not-utf8",
    words: "of code invalid_json 201",
    where: reads((body) => body)
  },
  {
    id: "create.any-content-type",
    does: "Reads a body whatever its content type.",
    breaks: "create.content-type",
    killedBy: "create.other-content-types",
    words: "415 with an Error body of code unsupported_media_type 201",
    where: sees((request) => withHeader(request, "Content-Type", "application/json"))
  },
  {
    id: "create.no-content-type",
    does: "Takes a body without content type for JSON.",
    breaks: "create.content-type",
    killedBy: "create.other-content-types",
    words: "415 with an Error body of code unsupported_media_type 201",
    where: sees((request) =>
      withHeader(request, "Content-Type", header(request, "content-type") ?? "application/json")
    )
  },
  {
    id: "create.any-charset",
    does: "Reads bodies of every charset as UTF-8.",
    breaks: "create.content-type-form",
    killedBy: "create.other-content-types",
    words: "415 with an Error body of code unsupported_media_type 201",
    where: sees((request) =>
      withHeader(request, "Content-Type", header(request, "content-type")?.replace(/;.*$/, ""))
    )
  },
  {
    id: "create.literal-content-type",
    does: "Knows application/json only in this very spelling.",
    breaks: "create.content-type-form",
    killedBy: "create.content-type-forms",
    words: "201 with the Pet 415",
    where: sees((request) =>
      header(request, "content-type") === "application/json"
        ? request
        : withHeader(request, "Content-Type", "x/y")
    )
  },
  {
    id: "create.ignores-coding",
    does: "Ignores Content-Encoding.",
    breaks: "create.content-encoding",
    killedBy: "create.encoded-body",
    words: "415 with an Error body of code unsupported_media_type 201",
    where: sees((request) => withHeader(request, "Content-Encoding", undefined))
  },
  {
    id: "create.any-size",
    does: "Reads bodies of a megabyte.",
    breaks: "create.body-size",
    killedBy: "create.too-large",
    words: "413 with an Error body of code payload_too_large 201",
    where: { at: "http", options: { maxBodyBytes: 1_048_576 } }
  },
  {
    id: "create.size-in-characters",
    does: "Counts the size of a body in characters.",
    breaks: "create.body-size-counted",
    killedBy: "create.too-large",
    words: "413 with an Error body of code payload_too_large 201",
    where: reads((body) => (body.length <= 65_536 ? body.replace(/"padding":"[^"]*"/, '"padding":""') : body))
  },
  {
    id: "create.one-byte-less",
    does: "Refuses a body of exactly 64 KiB.",
    breaks: "create.body-size-accepted",
    killedBy: "create.large",
    words: "201 with the Pet 413",
    where: { at: "http", options: { maxBodyBytes: 65_535 } }
  },
  {
    id: "create.no-address",
    does: "Does not say where the new animal is.",
    breaks: "create.location",
    killedBy: "create.address",
    words: "no Location",
    where: says((response) => Rewrite.withoutHeader(response, "location"))
  },
  {
    id: "create.wrong-address",
    does: "Names the list as the address of the new animal.",
    breaks: "create.location",
    killedBy: "create.address",
    words: "Location: /v1/pets/",
    where: saysIfCreated((response) => Rewrite.withHeader(response, "Location", "/v1/pets"))
  }
]
