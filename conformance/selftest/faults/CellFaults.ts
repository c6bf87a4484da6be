/** Defines faults that occur only under several conditions at once, such as one operation with one header. */
import * as Effect from "effect/Effect"
import * as PetJson from "../../http/PetJson.ts"
import { bytes, header, headerValues, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where, type World } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Creations from "../spoilers/Creations.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as ErrorResponses from "../spoilers/ErrorResponses.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

const has = (name: string, value: RegExp) => (request: WireRequest) =>
  headerValues(request, name).some((field) => value.test(field))

const isBrowser = has("accept", /xhtml/)
const hasCharset = has("content-type", /charset/i)
const isChunked = has("transfer-encoding", /chunked/)

const withoutStatus = ({ categoryId, name }: { readonly [member: string]: unknown }) => ({ name, categoryId })

/** Changes the name in the body of a creation, if the JSON has the literal member `"name"`; the rest stays as sent. */
const readsName = (change: (name: string) => string): Where =>
  Creations.reads((body) =>
    body.replace(/"name"\s*:\s*("(?:[^"\\]|\\.)*")/, (member, json: string) => {
      const read = PetJson.parse(json)
      return read._tag === "Success" && typeof read.success === "string"
        ? `"name":${JSON.stringify(change(read.success))}`
        : member
    })
  )

const encoder = new TextEncoder()

/** Truncates a name to a number of UTF-8 bytes, without splitting a character. */
const cutAtBytes = (name: string, maxBytes: number): string => {
  let cut = ""
  for (const character of name) {
    if (encoder.encode(cut + character).length > maxBytes) break
    cut += character
  }
  return cut
}

/** Changes the responses to some requests, while `isTime` is true for the server's time. */
const during = (
  isTime: (date: Date) => boolean,
  to: (request: WireRequest, world: World) => boolean,
  edit: (response: WireResponse, world: World) => WireResponse
): Where =>
  AtHttp.transport(
    (real, world) => (request) =>
      Effect.map(real(request), (response) =>
        isTime(new Date(world.now())) && to(request, world) ? edit(response, world) : response
      )
  )

/** Whether a time is in the last minute of a month in UTC. */
const endsMonth = (date: Date): boolean =>
  new Date(date.getTime() + 60_000).getUTCDate() === 1 && date.getUTCDate() > 1

/** Changes the responses to the victim key, except denials, after it was denied `denials` times. */
const afterDenials = (denials: number, edit: (response: WireResponse) => WireResponse): Where =>
  AtHttp.transport((real, world) => {
    let denied = 0
    return (request) =>
      Effect.map(real(request), (response) => {
        if (!Requests.hasKey(request, world.keys.victim)) return response
        if (response.status === 429) denied++
        return response.status !== 429 && denied >= denials ? edit(response) : response
      })
  })

const hasNoKey = (request: WireRequest): boolean => Requests.credentials(request).length === 0

export const faults: ReadonlyArray<Fault> = [
  fault("cell.astral-cut", "Truncates a name with a character above U+FFFF to 30 characters.")
    .breaks("create.returns-created", "product.creation", "the animal as sent")
    .by(readsName((name) => (/[\u{10000}-\u{10ffff}]/u.test(name) ? [...name].slice(0, 30).join("") : name))),
  fault("cell.two-byte-cut", "Truncates a name with characters of two bytes to 127 bytes.")
    .breaks("create.returns-created", "product.creation", "the animal as sent")
    .by(readsName((name) => (/[\u0080-\u07ff]/.test(name) ? cutAtBytes(name, 127) : name))),
  fault("cell.255-bytes", "Truncates names to 255 bytes.")
    .breaks("create.returns-created", "product.creation", "the animal as sent")
    .by(readsName((name) => cutAtBytes(name, 255))),
  fault("cell.escaped-pair", "Reads an escaped surrogate pair as two replacement characters.")
    .breaks("create.returns-created", "product.creation", "the animal as sent")
    .by(
      Creations.reads((body) => body.replace(/\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}/gi, "\\ufffd\\ufffd"))
    ),
  fault("cell.high-planes", "Replaces characters of planes 14 to 16 with question marks.")
    .breaks("create.returns-created", "product.names", "the animal as sent")
    .by(readsName((name) => name.replace(/[\u{e0000}-\u{10ffff}]/gu, "?"))),
  fault("cell.small-key-status", "Loses the status of animals that a key with a small plan creates.")
    .breaks("create.status-kept", "product.key", "the animal as sent")
    .by(Creations.readsMembers(withoutStatus, (request, { keys }) => Requests.hasKey(request, keys.tiny))),
  fault("cell.banned-key-category", "Truncates the category of animals that a frequently banned key creates.")
    .breaks("create.int64-exact", "product.key", "the animal as sent")
    .by(
      Creations.readsMembers(
        (members) => ({ ...members, categoryId: BigInt.asIntN(32, BigInt(String(members.categoryId))) }),
        (request, { keys }) => Requests.hasKey(request, keys.victim)
      )
    ),
  fault("cell.charset-status", "Loses the status of a creation whose content type has a charset.")
    .breaks("create.status-kept", "product.creation", "the animal as sent")
    .by(Creations.readsMembers(withoutStatus, hasCharset)),
  fault("cell.escaped-status", "Ignores a status whose member name is written with escapes.")
    .breaks("create.status-kept", "product.creation", "the animal as sent")
    .by(
      AtHttp.requests(
        (request) => Requests.isCreation(request) && text(request.body).includes("\\u0073\\u0074\\u0061"),
        (request) => ({
          ...request,
          body: bytes(text(request.body).replace(/"\\u0073\\u0074\\u0061[^"]*"/, '"other"'))
        })
      )
    ),
  fault("cell.chunked-latin", "Reads a chunked body as ISO 8859-1.")
    .breaks("create.returns-created", "product.creation", "the animal as sent")
    .by(
      AtHttp.requests(
        (request) => Requests.isCreation(request) && isChunked(request),
        (request) => ({ ...request, body: bytes(Buffer.from(request.body ?? []).toString("latin1")) })
      )
    ),
  fault(
    "cell.long-names-unlisted",
    "Omits animals with long names in three-byte characters from filtered lists."
  )
    .breaks("list.sees-created", "product.creation", "without it")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.listParameter(request, "status") !== null, status: 200 },
        Lists.edit((animals) =>
          animals.filter(({ name }) => !/[\u3042\u65e5]{2}|\u65e5\u672c/.test(name) || name.length <= 40)
        )
      )
    ),
  fault("cell.browser-ignores-status", "Ignores the status filter for browsers.")
    .breaks("list.status.filter", "product.list", "only sold animals")
    .by(
      AtHttp.requests(
        (request) => Requests.isList(request) && isBrowser(request),
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("cell.limit-last", "Ignores a limit after the status if the request has an Accept header.")
    .breaks("list.limit.maximum-returned", "product.list", "at most 2 animals")
    .by(
      AtHttp.requests(
        (request) => header(request, "accept") !== undefined && /status=.*&limit=/.test(request.target),
        (request) => Requests.withParameter(request, "limit", undefined)
      )
    ),
  fault("cell.unknown-parameter-status", "Ignores a status that follows an unknown parameter.")
    .breaks("list.status.filter", "product.list", "only sold animals")
    .by(
      AtHttp.requests(
        (request) => /\?zz=1&status=/.test(request.target),
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("cell.browser-creation", "Returns 200 for a creation by a browser.")
    .breaks("create.status-201", "product.request", "to POST /pets")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isCreation(request) && isBrowser(request), status: 201 },
        Edit.status(200)
      )
    ),
  fault("cell.head-costs-two", "Counts a HEAD request as two requests.")
    .breaks("limits.remaining-truth", "product.cost", "Remaining fell by 2")
    .by(AtHttp.alsoSends(Requests.isHead, (request) => request)),
  fault(
    "cell.missing-costs-two",
    "Counts a request that accepts application/json and gets 404 as two requests."
  )
    .breaks("limits.remaining-truth", "product.cost", "Remaining fell by 2")
    .by(
      AtHttp.transport(
        (real) => (request) =>
          Effect.flatMap(real(request), (response) =>
            response.status === 404 && header(request, "accept") === "application/json"
              ? real(request)
              : Effect.succeed(response)
          )
      )
    ),
  fault("cell.head-without-key", "Accepts HEAD without a key.")
    .breaks("auth.every-operation", "product.unauthorized", "to HEAD /pets")
    .by(
      AtHttp.requests(
        (request) => Requests.isHead(request) && hasNoKey(request),
        (request, world) => Requests.withKey(request, world.keys.main)
      )
    ),
  fault("cell.401-as-page", "Sends the 401 of a retrieval to a browser as an HTML page.")
    .breaks("auth.error-body", "product.unauthorized", "a JSON body")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isGet(request) && isBrowser(request), status: 401 },
        ErrorResponses.html
      )
    ),
  fault("cell.filtered-with-wrong-key", "Returns filtered lists for a key whose last character is wrong.")
    .breaks("auth.every-operation", "product.unauthorized", "401 to GET /pets")
    .by(
      AtHttp.transport((real, world) => (request) => {
        const [given = ""] = Requests.credentials(request)
        const isNear = given.length > 9 && given.slice(0, -1) === `Bearer ${world.keys.main}`.slice(0, -1)
        const isFiltered = Requests.isList(request) && Requests.parameters(request).has("status")
        return real(isNear && isFiltered ? Requests.withKey(request, world.keys.main) : request)
      })
    ),
  fault("cell.404-after-ban", "Omits X-RateLimit-Limit from a 404 for a key that was denied twenty times.")
    .breaks("limits.headers-present", "product.ban", "X-RateLimit-Limit is missing")
    .by(
      afterDenials(20, (response) =>
        response.status === 404 ? Edit.without("X-RateLimit-Limit")(response) : response
      )
    ),
  fault("cell.creation-after-ban", "Rejects creations by a key that was denied forty times.")
    .breaks("create.status-201", "product.ban", "201 to POST")
    .by(
      afterDenials(40, (response) =>
        response.status === 201 ? Edit.error(400, "invalid_body")(response) : response
      )
    ),
  fault(
    "cell.month-reset",
    "Sends an X-RateLimit-Reset a month in the past during the last minute of a month."
  )
    .breaks("limits.reset-not-past", "product.time", "X-RateLimit-Reset now or later")
    .by(
      during(endsMonth, Requests.any, (response, world) =>
        Edit.header("X-RateLimit-Reset", String(Math.floor(world.now() / 1_000) - 30 * 86_400))(response)
      )
    ),
  fault("cell.anonymous-last-second", "Returns 400 instead of 401 in the last second of a minute.")
    .breaks("auth.required", "product.time", "(no key")
    .by(
      AtHttp.transport(
        (real, world) => (request) =>
          Effect.map(real(request), (response) =>
            response.status === 401 && world.now() % 60_000 >= 59_000
              ? Edit.error(400, "missing_api_key")(response)
              : response
          )
      )
    ),
  fault("cell.any-key-last-second", "Accepts any key in the last second of a minute.")
    .breaks("auth.invalid", "product.time", "401 to GET /pets")
    .by(
      AtHttp.requests(
        (request, world) =>
          Requests.credentials(request).includes("Bearer no-such-key-0123456789") &&
          world.now() % 60_000 >= 59_000,
        (request, world) => Requests.withKey(request, world.keys.main)
      )
    ),
  fault("cell.double-after-midnight", "Rounds categories to doubles in the first minute of a day.")
    .breaks("create.int64-exact", "product.time", "the animal as sent")
    .by(
      Creations.readsMembers(
        ({ categoryId, ...members }) => ({
          ...members,
          categoryId: typeof categoryId === "bigint" ? BigInt(Number(categoryId)) : categoryId
        }),
        (_request, world) => world.now() % 86_400_000 < 60_000
      )
    ),
  fault("cell.category-after-denial", "Stores category 0 for the first creation after a denial.")
    .breaks("create.returns-created", "product.counted", "the animal as sent")
    .by(
      AtHttp.transport((real, world) => {
        let isDenied = false
        return (request) =>
          Effect.suspend(() => {
            const isChanged = isDenied && Requests.isCreation(request)
            const isOfTiny = Requests.hasKey(request, world.keys.tiny)
            const sent = isChanged && isOfTiny ? Requests.inCategory(request, 0n) : request
            return Effect.tap(real(sent), ({ status }) =>
              Effect.sync(() => {
                if (isOfTiny) isDenied = status === 429
              })
            )
          })
      })
    ),
  fault("cell.new-year", "Returns 500 for creations in the first second of a year.")
    .breaks("create.status-201", "product.time", "500, remaining")
    .by(
      during(
        (date) => date.getTime() - Date.UTC(date.getUTCFullYear(), 0) < 1_000,
        Requests.isCreation,
        ErrorResponses.failure
      )
    ),
  fault("cell.leap-day", "Returns 404 for every animal on 29 February.")
    .breaks("get.found", "product.time", "200 with the Pet 404")
    .by(
      during(
        (date) => date.getUTCMonth() === 1 && date.getUTCDate() === 29,
        Requests.isGet,
        Edit.error(404, "not_found")
      )
    ),
  fault("cell.removed-browser", "Rejects creations by browsers after the removal of getPet.")
    .breaks("get.removed-alone", "product.removed", "to POST /pets")
    .by(
      during(
        (date) => date.getTime() > Date.UTC(2030, 11, 6),
        (request) => Requests.isCreation(request) && isBrowser(request),
        Edit.error(410, "operation_removed")
      )
    ),
  fault("cell.free-lists-of-pending", "Does not count or limit lists of pending animals.")
    .breaks("limits.per-minute", "product.counted", "429 within")
    .by(RateLimits.withoutLimit((request) => Requests.listParameter(request, "status") === "pending"))
]
