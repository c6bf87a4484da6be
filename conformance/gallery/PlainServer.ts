/**
 * The contract once more, in one file: a server in process that shares no rule with the core. Whatever the
 * contract leaves open is a choice, and every combination of choices is legal. The decoys are made of it.
 */
import * as Effect from "effect/Effect"
import type { Header, Transport, WireRequest, WireResponse } from "../http/Wire.ts"

/** How requests are counted: see `bucket`, `fixed` and `log` below. */
export type Algorithm = "token bucket" | "clock window" | "window from first use" | "sliding log"

/** Answers to the contract's gaps. */
export interface Choices {
  /** §2, `id` is only "unique": how the n-th animal gets its id. */
  readonly ids: keyof typeof idOf
  /** §4.1 states no order of a list. Shuffled: anew for each request. */
  readonly order: keyof typeof rankOf | "shuffled"
  /** §2: the status of an animal that was created without. Absent: the field stays away. */
  readonly defaultStatus: Status | "absent"
  /** §2 has no `null`: refuse it as an invalid value, or take it for an absent status. */
  readonly nullStatus: 400 | "as absent"
  /** §2: constraints on `name`, in UTF-16 units. */
  readonly names: { readonly minimum: number; readonly maximum: number; readonly onlyAscii: boolean }
  /** §2: whether `1.0` and `1e3` are integers, or digits alone. */
  readonly integers: "by value" | "digits only"
  /** §4.2: fields of a new animal that the contract does not know. */
  readonly unknownFields: "ignored" | 400
  /** §4.2: an `id` sent by the client. */
  readonly sentId: "ignored" | 400
  /** §4.2 names one content type: whether others are refused. */
  readonly contentTypes: "any" | 415
  /** Largest body in bytes; a larger one is 413. */
  readonly largestBody: number
  /** §4.1: a `limit` that is no integer from 1 to 100. Clamped: brought into range, or 20 if no integer. */
  readonly badLimit: 400 | 422 | "clamped"
  /** §4.1: a status filter that is no PetStatus. */
  readonly unknownStatus: 400 | 422 | "matches nothing"
  /** §4.1: query parameters that the contract does not know. */
  readonly unknownParameters: "ignored" | 400
  /** §4.1: whether a full page links to the next one. */
  readonly paging: "none" | "link"
  /** §4.3: a `petId` that is no int64. */
  readonly badPetId: 400 | 404
  /** §4.3: the instant of removal, ISO 8601; legal while it is 5 December 2030 somewhere on earth. */
  readonly removedAt: string
  /** §4.3: the answer from then on. */
  readonly removed: 404 | 410
  /** Whether getPet carries `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
  readonly deprecationHeaders: boolean
  /** §4.4: a request without valid key for a path that does not exist. */
  readonly unknownPathWithoutKey: 401 | 404
  /** §5: whether `bearer` is as good as `Bearer`. */
  readonly scheme: "any case" | "exact"
  /** Whether a 401 carries `WWW-Authenticate` (RFC 9110). */
  readonly challenge: boolean
  /** §4 has no HEAD; as GET: without the body. */
  readonly head: "as GET" | 405
  /** §4 has no OPTIONS; 204 carries `Allow`. */
  readonly options: 204 | 405
  /** §4: any other method on a path that exists. */
  readonly otherMethods: 404 | 405
  /** §4: a known path with a slash behind it. */
  readonly trailingSlash: "tolerated" | 404
  /** §8.2: how "per minute" is counted. */
  readonly minute: Algorithm
  /** §8.2: how "per day" is counted. */
  readonly day: Exclude<Algorithm, "token bucket">
  /** Minutes east of UTC at which the clock's day begins. */
  readonly dayZone: number
  /** §8.4, "per key, per account": an account has all keys of one plan. */
  readonly counted: "per key" | "per account"
  /** §8.2: whether an admitted request that fails with 4xx costs. */
  readonly errorsCost: boolean
  /** §8.2: whether a refused request costs too, so that refusals put off the next admission. */
  readonly refusalsCost: boolean
  /** §8.3, callers without key: counted on Free's numbers, never counted but shown these, or shown zeros. */
  readonly anonymous: "counted" | "not counted" | "zeros"
  /** §8.3: the window that the headers show. */
  readonly shown: "least remaining" | "minute" | "day"
  /** §8.3: what resets at `X-RateLimit-Reset`; they differ for the token bucket and the sliding log. */
  readonly reset: keyof Resets
  /** §8.4: the unit of `Retry-After`. */
  readonly retryAfter: "seconds" | "date"
  /** Seconds that `Retry-After` asks for beyond need. */
  readonly slack: number
  /** §8.4.3: a ban of `seconds` after so many refused requests sent before their announced retry time. */
  readonly ban: "never" | { readonly after: number; readonly seconds: number; readonly status: 403 | 429 }
  /** §7: the values of `code`. */
  readonly codes: "words" | "UPPER" | "numbered"
  /** §2: the language of `message`. */
  readonly language: "en" | "de"
  /** Fields of an Error beyond the contract's. */
  readonly errorExtras: Fields
  /** Fields of a Pet beyond the contract's. */
  readonly petExtras: Fields
  /** How JSON is written: white space between tokens, order of fields, `\uXXXX` for all but ASCII. */
  readonly json: { readonly space: string; readonly reversed: boolean; readonly escaped: boolean }
  /** `Content-Type` of animals. */
  readonly contentType: string
  /** `Content-Type` of errors. */
  readonly errorContentType: string
  /** Whether answers carry `Date`. */
  readonly date: boolean
  /** Header names have no case (RFC 9110). */
  readonly headerNames: keyof typeof cased
}

/** What one would expect of a plain server. */
export const defaults: Choices = {
  ids: "consecutive",
  order: "ascending",
  defaultStatus: "available",
  nullStatus: 400,
  names: { minimum: 0, maximum: Number.POSITIVE_INFINITY, onlyAscii: false },
  integers: "by value",
  unknownFields: "ignored",
  sentId: "ignored",
  contentTypes: "any",
  largestBody: Number.POSITIVE_INFINITY,
  badLimit: 400,
  unknownStatus: 400,
  unknownParameters: "ignored",
  paging: "none",
  badPetId: 404,
  removedAt: "2030-12-05T00:00:00Z",
  removed: 404,
  deprecationHeaders: false,
  unknownPathWithoutKey: 401,
  scheme: "any case",
  challenge: true,
  head: "as GET",
  options: 204,
  otherMethods: 405,
  trailingSlash: 404,
  minute: "clock window",
  day: "clock window",
  dayZone: 0,
  counted: "per key",
  errorsCost: true,
  refusalsCost: false,
  anonymous: "counted",
  shown: "least remaining",
  reset: "window end",
  retryAfter: "seconds",
  slack: 0,
  ban: "never",
  codes: "words",
  language: "en",
  errorExtras: {},
  petExtras: {},
  json: { space: "", reversed: false, escaped: false },
  contentType: "application/json",
  errorContentType: "application/json",
  date: true,
  headerNames: "as written"
}

/** A key that the server knows, and its plan. */
export interface PlainKey {
  readonly secret: string
  readonly perMinute: number
  readonly perDay: number
  readonly revoked?: boolean
}

/** What a server is made of. */
export interface Options {
  readonly keys: ReadonlyArray<PlainKey>
  /** The time, in epoch ms. */
  readonly now: () => number
  /** Path of the base address; `/v1` when absent. */
  readonly basePath?: string
  /** `defaults` where absent. */
  readonly choices?: Partial<Choices>
}

type Status = (typeof statuses)[number]
const statuses = ["available", "pending", "sold"] as const
const isStatus = (value: unknown): value is Status => statuses.some((status) => status === value)

interface NewPet {
  readonly name: string
  readonly categoryId: bigint
  readonly status: Status | undefined
}
interface Pet extends NewPet {
  readonly id: bigint
  /** Its place in lists: the smallest comes first. */
  readonly rank: bigint | string
}

type Fields = Readonly<Record<string, string | number | bigint>>

/** What a target names: all animals, or one. */
interface Place {
  readonly petId?: string
  readonly query: string
}

interface Reply {
  readonly status: number
  readonly headers: ReadonlyArray<Header>
  readonly json?: string
}

/** Scatters the numbers of `bits` bits over themselves, none twice: every step of it can be undone. */
const scatter = (n: bigint, bits: 63 | 64): bigint => {
  const once = BigInt.asUintN(bits, (n ^ (n >> 30n)) * 0xbf58476d1ce4e5b9n)
  const twice = BigInt.asUintN(bits, (once ^ (once >> 27n)) * 0x94d049bb133111ebn)
  return twice ^ (twice >> 31n)
}

/** The id of the n-th animal. */
const idOf = {
  consecutive: (n: bigint) => n,
  "in steps": (n: bigint) => n * 1000n,
  random: (n: bigint) => scatter(n, 63),
  "random of any sign": (n: bigint) => BigInt.asIntN(64, scatter(n, 64)),
  negative: (n: bigint) => -n,
  "from 2^53 up": (n: bigint) => 2n ** 53n + n,
  "from 2^63-1 down": (n: bigint) => 2n ** 63n - n
}

/** What lists are sorted by. */
const rankOf = {
  ascending: (_n: bigint, id: bigint) => id,
  "newest first": (n: bigint) => -n,
  "by name": (_n: bigint, _id: bigint, name: string) => name,
  "by hash": (_n: bigint, id: bigint) => scatter(BigInt.asUintN(64, id), 64)
}

/** Code, and message in two languages. */
const errors = {
  400: ["invalid_request", "The request has invalid values.", "Die Anfrage enthält ungültige Werte."],
  401: ["unauthorized", "The API key is missing or invalid.", "Der API-Schlüssel fehlt oder ist ungültig."],
  403: ["banned", "The API key is banned for a while.", "Der API-Schlüssel ist vorübergehend gesperrt."],
  404: ["not_found", "There is no such resource.", "Diese Ressource gibt es nicht."],
  405: ["method_not_allowed", "The method is not allowed here.", "Diese Methode ist hier nicht erlaubt."],
  410: ["gone", "The operation was removed.", "Diese Operation wurde entfernt."],
  413: ["too_large", "The body is too large.", "Der Anfragekörper ist zu groß."],
  415: ["unsupported_type", "Only application/json is read.", "Nur application/json wird gelesen."],
  422: ["unprocessable", "A parameter is out of range.", "Ein Parameter liegt außerhalb des Bereichs."],
  429: ["rate_limited", "Too many requests.", "Zu viele Anfragen."]
} as const
type ErrorStatus = keyof typeof errors

/** The int64 that a JSON number denotes exactly, if it denotes one; never builds a longer number. */
const int64 = (source: string): bigint | undefined => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source)
  if (parts === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts
  const digits = whole + fraction
  let from = 0
  let to = digits.length
  while (digits[from] === "0") from++
  while (to > from && digits[to - 1] === "0") to--
  if (from >= to) return 0n
  const zeros = Number(exponent) - fraction.length + digits.length - to
  if (zeros < 0 || to - from + zeros > 19) return undefined
  const value = BigInt(sign + digits.slice(from, to) + "0".repeat(zeros))
  return value === BigInt.asIntN(64, value) ? value : undefined
}

/** What may be meant by the reset of a limit, in epoch ms. */
interface Resets {
  readonly "window end": number
  readonly "all left again": number
  readonly "one more left": number
}

/** Counts requests; all times are epoch ms and do not run backwards. */
interface Window {
  readonly limit: number
  /** How many requests are left. */
  readonly left: (now: number) => number
  readonly take: (now: number) => void
  /** From when on a request is admitted, if none is taken before. */
  readonly freeAt: (now: number) => number
  readonly resets: (now: number) => Resets
}

/** Refills evenly. The level counts parts of a request, `length` of them to one: all is integer. */
const bucket = (limit: number, length: number): Window => {
  const capacity = limit * length
  let level = capacity
  let at = 0
  const settled = (now: number) => {
    level = Math.min(capacity, level + Math.max(0, now - at) * limit)
    at = Math.max(at, now)
    return level
  }
  const left = (now: number) => Math.floor(settled(now) / length)
  const reaches = (target: number, now: number) =>
    now + Math.max(0, Math.ceil((target - settled(now)) / limit))
  return {
    limit,
    left,
    take: (now) => {
      level = Math.max(0, settled(now) - length)
    },
    freeAt: (now) => reaches(length, now),
    resets: (now) => ({
      "window end": now + length,
      "all left again": reaches(capacity, now),
      "one more left": reaches(Math.min(capacity, (left(now) + 1) * length), now)
    })
  }
}

/** Starts anew when its window ends; `endOf` tells when a window ends that is open at `now`. */
const fixed = (limit: number, endOf: (now: number) => number): Window => {
  let used = 0
  let end = 0
  const settle = (now: number) => {
    if (now < end && used > 0) return
    used = 0
    end = endOf(now)
  }
  const left = (now: number) => {
    settle(now)
    return Math.max(0, limit - used)
  }
  return {
    limit,
    left,
    take: (now) => {
      settle(now)
      used++
    },
    freeAt: (now) => (left(now) > 0 ? now : end),
    resets: (now) => {
      settle(now)
      return { "window end": end, "all left again": end, "one more left": end }
    }
  }
}

/** Remembers every request for `length`: no span of that length ever holds more than `limit`. */
const log = (limit: number, length: number): Window => {
  let times: Array<number> = []
  const settled = (now: number) => {
    const kept = times.findIndex((time) => time > now - length)
    if (kept !== 0) times = kept === -1 ? [] : times.slice(kept)
    return times
  }
  const leaves = (time: number | undefined, now: number) => (time === undefined ? now : time + length)
  return {
    limit,
    left: (now) => Math.max(0, limit - settled(now).length),
    take: (now) => {
      settled(now).push(now)
    },
    freeAt: (now) => leaves(settled(now).at(-limit), now),
    resets: (now) => ({
      "window end": now + length,
      "all left again": leaves(settled(now).at(-1), now),
      "one more left": leaves(settled(now)[0], now)
    })
  }
}

const windowOf = (algorithm: Algorithm, limit: number, length: number, zoneMs: number): Window => {
  switch (algorithm) {
    case "token bucket":
      return bucket(limit, length)
    case "clock window":
      return fixed(limit, (now) => (Math.floor((now + zoneMs) / length) + 1) * length - zoneMs)
    case "window from first use":
      return fixed(limit, (now) => now + length)
    case "sliding log":
      return log(limit, length)
  }
}

/** What the server knows of a caller. */
interface Caller {
  readonly minute: Window
  readonly day: Window
  /** Refused requests in a row that did not wait as told. */
  ignored: number
  /** The retry time last announced. */
  retryAt: number
  bannedUntil: number
}

/** How header names are written. */
const cased = {
  "as written": (name: string) => name,
  lower: (name: string) => name.toLowerCase(),
  UPPER: (name: string) => name.toUpperCase()
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** A server with no animals whose callers were never seen before. */
export const make = (options: Options): Transport => {
  const choices: Choices = { ...defaults, ...options.choices }
  const petsPath = `${options.basePath ?? "/v1"}/pets`
  const removedAt = Date.parse(choices.removedAt)

  // Answers

  const quote = (text: string): string => {
    const json = JSON.stringify(text)
    if (!choices.json.escaped) return json
    return json.replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
  }
  const between = (open: string, items: ReadonlyArray<string>, close: string): string => {
    const { space } = choices.json
    return [open, items.join(`${space},${space}`), close].join(space)
  }
  const object = (fields: Fields): string => {
    const { reversed, space } = choices.json
    const members = Object.entries(fields).map(
      ([name, value]) => `${quote(name)}:${space}${typeof value === "string" ? quote(value) : value}`
    )
    return between("{", reversed ? members.reverse() : members, "}")
  }
  const petJson = ({ categoryId, id, name, status }: Pet): string =>
    object({ id, name, categoryId, ...(status === undefined ? {} : { status }), ...choices.petExtras })

  const succeed = (status: 200 | 201, json: string, headers: ReadonlyArray<Header> = []): Reply => ({
    status,
    headers: [["Content-Type", choices.contentType], ...headers],
    json
  })
  const fail = (status: ErrorStatus, headers: ReadonlyArray<Header> = []): Reply => {
    const [word, english, german] = errors[status]
    const code = { words: word, UPPER: word.toUpperCase(), numbered: `E${status}` }[choices.codes]
    const message = choices.language === "en" ? english : german
    return {
      status,
      headers: [["Content-Type", choices.errorContentType], ...headers],
      json: object({ code, message, status, ...choices.errorExtras })
    }
  }

  // Operations

  const byId = new Map<bigint, Pet>()
  /** All animals in the order in which they are listed. */
  const listed: Array<Pet> = []
  const rank = rankOf[choices.order === "shuffled" ? "ascending" : choices.order]
  const add = (newPet: NewPet): Pet => {
    const n = BigInt(byId.size) + 1n
    const id = idOf[choices.ids](n)
    const pet = { ...newPet, id, rank: rank(n, id, newPet.name) }
    byId.set(id, pet)
    listed.splice(listed.findLastIndex((other) => other.rank <= pet.rank) + 1, 0, pet)
    return pet
  }

  let dice = 0n
  /** So many of `pets`, drawn without putting back. */
  const draw = (pets: ReadonlyArray<Pet>, count: number): ReadonlyArray<Pet> => {
    const rest = [...pets]
    return Array.from({ length: Math.min(count, rest.length) }, () => {
      const at = Number(scatter(++dice, 64) % BigInt(rest.length))
      return rest.splice(at, 1)
    }).flat()
  }

  const limitOf = (given: string | null): number | undefined => {
    if (given === null) return 20
    const limit = /^-?\d+$/.test(given) ? Number(given) : undefined
    if (choices.badLimit === "clamped") return Math.min(Math.max(limit ?? 20, 1), 100)
    return limit !== undefined && limit >= 1 && limit <= 100 ? limit : undefined
  }

  const listPets = (query: string): Reply => {
    const given = new URLSearchParams(query)
    const known = choices.paging === "link" ? ["limit", "status", "offset"] : ["limit", "status"]
    const isStrict = choices.unknownParameters === 400
    if (isStrict && [...given.keys()].some((name) => !known.includes(name))) return fail(400)
    const limit = limitOf(given.get("limit"))
    if (limit === undefined) return fail(choices.badLimit === 422 ? 422 : 400)
    const status = given.get("status")
    if (status !== null && !isStatus(status) && choices.unknownStatus !== "matches nothing") {
      return fail(choices.unknownStatus)
    }
    const found = status === null ? listed : listed.filter((pet) => pet.status === status)
    if (choices.order === "shuffled") return succeed(200, between("[", draw(found, limit).map(petJson), "]"))
    const offset = choices.paging === "link" ? Number(/^\d{1,9}$/.exec(given.get("offset") ?? "0") ?? 0) : 0
    const page = between("[", found.slice(offset, offset + limit).map(petJson), "]")
    if (choices.paging === "none" || offset + limit >= found.length) return succeed(200, page)
    given.set("offset", String(offset + limit))
    return succeed(200, page, [["Link", `<${petsPath}?${given}>; rel="next"`]])
  }

  /** A number of a body as the int64 that it is; one that is none stays a `number`. */
  const exactly = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== "number") return value
    const source = context?.source ?? ""
    return choices.integers === "digits only" && !/^-?\d+$/.test(source) ? value : (int64(source) ?? value)
  }
  const parse = (body: Uint8Array): unknown => {
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body), exactly)
    } catch {
      return undefined // no UTF-8, no JSON, or nested too deep for the parser's stack
    }
  }
  const isName = (name: unknown): name is string => {
    const { maximum, minimum, onlyAscii } = choices.names
    if (typeof name !== "string" || name.length < minimum || name.length > maximum) return false
    return !onlyAscii || /^[ -~]*$/.test(name)
  }
  const newPetOf = (body: Uint8Array): NewPet | undefined => {
    const value = parse(body)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
    const fields = value as Record<string, unknown> // what JSON.parse makes of an object
    const { categoryId, id, name, status: given, ...others } = fields
    if (!isName(name) || typeof categoryId !== "bigint") return undefined
    if (choices.sentId === 400 && id !== undefined) return undefined
    if (choices.unknownFields === 400 && Object.keys(others).length > 0) return undefined
    const isAbsent = given === undefined || (given === null && choices.nullStatus === "as absent")
    if (isAbsent) {
      return {
        name,
        categoryId,
        status: choices.defaultStatus === "absent" ? undefined : choices.defaultStatus
      }
    }
    return isStatus(given) ? { name, categoryId, status: given } : undefined
  }

  const createPet = ({ body = new Uint8Array(), headers }: WireRequest): Reply => {
    const isJson = headers.some(
      ([name, value]) => name.toLowerCase() === "content-type" && /^\s*application\/json\s*(;|$)/i.test(value)
    )
    if (choices.contentTypes === 415 && !isJson) return fail(415)
    if (body.length > choices.largestBody) return fail(413)
    const newPet = newPetOf(body)
    return newPet === undefined ? fail(400) : succeed(201, petJson(add(newPet)))
  }

  const getPet = (petId: string): Reply => {
    const id = /^-?\d+$/.test(petId) ? int64(petId) : undefined
    if (id === undefined) return fail(choices.badPetId)
    const pet = byId.get(id)
    return pet === undefined ? fail(404) : succeed(200, petJson(pet))
  }

  // Routing

  const placeOf = (target: string): Place | undefined => {
    const [given = "", ...queries] = target.split("?")
    const query = queries.join("?")
    const path = choices.trailingSlash === "tolerated" ? given.replace(/\/$/, "") : given
    if (path === petsPath) return { query }
    const petId = path.startsWith(`${petsPath}/`) ? path.slice(petsPath.length + 1) : ""
    return petId === "" || petId.includes("/") ? undefined : { query, petId }
  }

  const byMethod = (method: string, operations: Readonly<Record<string, () => Reply>>): Reply => {
    const all = new Map(Object.entries(operations))
    const get = all.get("GET")
    if (choices.head === "as GET" && get !== undefined) all.set("HEAD", get)
    const methods = [...all.keys(), ...(choices.options === 204 ? ["OPTIONS"] : [])]
    const allow: Header = ["Allow", methods.join(", ")]
    if (method === "OPTIONS" && choices.options === 204) return { status: 204, headers: [allow] }
    const isOther = method !== "HEAD" && method !== "OPTIONS"
    return all.get(method)?.() ?? fail(isOther ? choices.otherMethods : 405, [allow])
  }

  const deprecation: ReadonlyArray<Header> = [
    ["Deprecation", "@1767225600"],
    ["Sunset", new Date(removedAt).toUTCString()]
  ]
  /** The answer to a caller who is known and admitted. */
  const route = (request: WireRequest, now: number): Reply => {
    const place = placeOf(request.target)
    if (place === undefined) return fail(404)
    const { petId, query } = place
    if (petId === undefined) {
      return byMethod(request.method, { GET: () => listPets(query), POST: () => createPet(request) })
    }
    const reply =
      now < removedAt ? byMethod(request.method, { GET: () => getPet(petId) }) : fail(choices.removed)
    return choices.deprecationHeaders ? { ...reply, headers: [...reply.headers, ...deprecation] } : reply
  }

  /** The answer to a caller without valid key. */
  const turnAway = ({ target }: WireRequest): Reply => {
    if (choices.unknownPathWithoutKey === 404 && placeOf(target) === undefined) return fail(404)
    return fail(401, choices.challenge ? [["WWW-Authenticate", 'Bearer realm="pets"']] : [])
  }

  // Callers and their limits

  const keys = new Map(
    options.keys.filter(({ revoked }) => revoked !== true).map((key) => [key.secret, key] as const)
  )
  const keyOf = ({ headers }: WireRequest): PlainKey | undefined => {
    const given = headers.filter(([name]) => name.toLowerCase() === "authorization")
    const credential = choices.scheme === "exact" ? /^Bearer +([^ ]+)$/ : /^Bearer +([^ ]+)$/i
    const secret = given.length === 1 ? credential.exec(given[0]?.[1] ?? "")?.[1] : undefined
    return secret === undefined ? undefined : keys.get(secret)
  }
  const startOf = ({ perDay, perMinute }: Pick<PlainKey, "perMinute" | "perDay">): Caller => ({
    minute: windowOf(choices.minute, perMinute, minuteMs, 0),
    day: windowOf(choices.day, perDay, dayMs, choices.dayZone * minuteMs),
    ignored: 0,
    retryAt: 0,
    bannedUntil: 0
  })
  /** Everyone without valid key; on the numbers of the Free plan. */
  const nobody = startOf({ perMinute: 60, perDay: 1000 })
  const callers = new Map<string, Caller>()
  const accounts = new Map<string, Caller>()
  /** Who sends the key. Keys of one account share their windows, but no ban: §8.4.3 bans keys. */
  const callerOf = (key: PlainKey): Caller => {
    const known = callers.get(key.secret)
    if (known !== undefined) return known
    const account = `${key.perMinute}/${key.perDay}`
    const sibling = choices.counted === "per account" ? accounts.get(account) : undefined
    const caller = { ...startOf(key), ...(sibling && { minute: sibling.minute, day: sibling.day }) }
    callers.set(key.secret, caller)
    accounts.set(account, caller)
    return caller
  }
  const freeAt = ({ day, minute }: Caller, now: number) => Math.max(minute.freeAt(now), day.freeAt(now))
  const take = ({ day, minute }: Caller, now: number): void => {
    minute.take(now)
    day.take(now)
  }

  /** The answer to a caller who is over a limit or banned. */
  const refuse = (caller: Caller, now: number): Reply => {
    if (choices.refusalsCost) take(caller, now)
    const { ban } = choices
    if (ban !== "never" && caller !== nobody && now >= caller.bannedUntil && now < caller.retryAt) {
      caller.ignored++
      if (caller.ignored >= ban.after) caller.bannedUntil = now + ban.seconds * 1000
    }
    const wait = Math.max(freeAt(caller, now), caller.bannedUntil) - now
    const seconds = Math.max(1, Math.ceil(wait / 1000)) + choices.slack
    caller.retryAt = now + seconds * 1000
    // §8.4.1: over the limit it is 429 even during a ban.
    const status = ban === "never" || freeAt(caller, now) > now ? 429 : ban.status
    const date = new Date(Math.ceil(caller.retryAt / 1000) * 1000)
    const told = choices.retryAfter === "date" ? date.toUTCString() : String(seconds)
    return fail(status, [["Retry-After", told]])
  }

  const rateHeaders = (caller: Caller, now: number): ReadonlyArray<Header> => {
    const { day, minute } = caller
    const least = day.left(now) < minute.left(now) ? day : minute
    const window = { "least remaining": least, minute, day }[choices.shown]
    const isZero = caller === nobody && choices.anonymous === "zeros"
    const resetAt = isZero ? now : window.resets(now)[choices.reset]
    return [
      ["X-RateLimit-Limit", String(isZero ? 0 : window.limit)],
      ["X-RateLimit-Remaining", String(isZero ? 0 : window.left(now))],
      ["X-RateLimit-Reset", String(Math.ceil(resetAt / 1000))]
    ]
  }

  const serve = (request: WireRequest): WireResponse => {
    const now = Math.floor(options.now())
    const key = keyOf(request)
    const caller = key === undefined ? nobody : callerOf(key)
    const isCounted = key !== undefined || choices.anonymous === "counted"
    const isRefused = isCounted && (freeAt(caller, now) > now || now < caller.bannedUntil)
    const reply = isRefused
      ? refuse(caller, now)
      : key === undefined
        ? turnAway(request)
        : route(request, now)
    if (!isRefused) {
      caller.ignored = 0
      if (isCounted && (reply.status < 400 || choices.errorsCost)) take(caller, now)
    }
    const headers: ReadonlyArray<Header> = [
      ...reply.headers,
      ...rateHeaders(caller, now),
      ...(choices.date ? [["Date", new Date(now).toUTCString()] as const] : [])
    ]
    return {
      status: reply.status,
      headers: headers.map(([name, value]) => [cased[choices.headerNames](name), value]),
      body: new TextEncoder().encode(request.method === "HEAD" ? "" : (reply.json ?? ""))
    }
  }
  return (request) => Effect.sync(() => serve(request))
}
