/**
 * Implements the contract a second time: an in-process server that shares no code with the core. Each point that the
 * contract leaves open is a choice. Most conforming variants are this server with other choices.
 */
import * as Effect from "effect/Effect"
import type { Header, Transport, WireRequest, WireResponse } from "../../http/Wire.ts"
import * as Animals from "./Animals.ts"
import * as Bodies from "./Bodies.ts"
import * as Callers from "./Callers.ts"
import { type Choices, defaults } from "./Choices.ts"
import * as Replies from "./Replies.ts"

/** The configuration of a plain server. */
export interface Options {
  readonly keys: ReadonlyArray<Callers.PlainKey>
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number
  /** The path of the base address; `/v1` when absent. */
  readonly basePath?: string
  /** The choices that differ from `defaults`. */
  readonly choices?: Partial<Choices>
}

/** The resource of a request target: all animals, or one. */
interface Place {
  readonly petId?: string
  readonly query: string
  readonly isSlashed: boolean
}

/** Percent-decodes a text; returns it unchanged if it is malformed. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

type Catalogue = ReturnType<typeof Animals.make>

const cased: Readonly<Record<Choices["headerNames"], (name: string) => string>> = {
  "as written": (name) => name,
  lower: (name) => name.toLowerCase(),
  UPPER: (name) => name.toUpperCase()
}

/** Creates a server with no requests counted. */
export const make = (options: Options): Transport => {
  const choices: Choices = { ...defaults, ...options.choices }
  const petsPath = `${options.basePath ?? "/v1"}/pets`
  const removedAt = Date.parse(choices.removedAt)
  /** The machine's time in epoch milliseconds: constant, because real time barely passes during a run. */
  const startedAt = options.now()
  const nextNumber = Animals.makeNumbering(choices)
  const shared = Animals.make(choices, nextNumber)
  const catalogues = new Map<Callers.Caller, Catalogue>()
  const callers = Callers.make(options.keys, choices)
  const replies = Replies.make(choices)

  /** Returns the animals that are visible to a caller. */
  const catalogueOf = (caller: Callers.Caller): Catalogue => {
    if (choices.catalogues === "shared") return shared
    const catalogue = catalogues.get(caller) ?? Animals.make(choices, nextNumber)
    catalogues.set(caller, catalogue)
    return catalogue
  }

  // Operations

  const limitOf = (given: string | null): number | undefined => {
    if (given === null) return 20
    const { badLimit, largestLimit, limitForm } = choices
    const form = limitForm === "shortest" ? /^(?:0|-?[1-9]\d*)$/ : /^-?\d+$/
    const limit =
      limitForm === "as parseInt" ? Number.parseInt(given, 10) : form.test(given) ? Number(given) : NaN
    const isRejected =
      typeof badLimit === "number" ||
      (badLimit === "clamped from above" && !(limit >= 1)) ||
      (badLimit === "clamped if 32 bits" && (limit | 0) !== limit)
    if (isRejected) return limit >= 1 && limit <= largestLimit ? limit : undefined
    return Math.min(Math.max(Number.isNaN(limit) ? 20 : limit, 1), largestLimit)
  }

  /** Returns the value of a parameter; `null` if it is absent, `undefined` if it is invalid. */
  const valueOf = (given: URLSearchParams, name: string): string | null | undefined => {
    const all = given.getAll(name)
    if (all.length > 1 && choices.repeatedParameters === 400) return undefined
    const value = choices.repeatedParameters === "last" ? all.at(-1) : all[0]
    return value === undefined || (value === "" && choices.emptyParameters === "absent") ? null : value
  }

  const listPets = (animals: Catalogue, query: string, now: number): Replies.Reply => {
    const given = new URLSearchParams(query)
    const known = choices.paging === "none" ? ["limit", "status"] : ["limit", "status", "offset"]
    const isStrict = choices.unknownParameters === 400
    if (isStrict && [...given.keys()].some((name) => !known.includes(name))) return replies.error(400)
    const [limitGiven, statusGiven] = [valueOf(given, "limit"), valueOf(given, "status")]
    if (limitGiven === undefined || statusGiven === undefined) return replies.error(400)
    const limit = limitOf(limitGiven)
    if (limit === undefined) return replies.error(choices.badLimit === 422 ? 422 : 400)
    const status = choices.statusCase === "any" ? (statusGiven?.toLowerCase() ?? null) : statusGiven
    if (status !== null && !Bodies.isStatus(status)) {
      return choices.unknownStatus === "matches nothing"
        ? replies.pets([])
        : replies.error(choices.unknownStatus)
    }
    const found = animals.list(status, now)
    if (choices.order === "shuffled") return replies.pets(animals.draw(found, limit))
    const isPaged = choices.paging === "link"
    const offset = isPaged ? Number(/^\d{1,9}$/.exec(given.get("offset") ?? "0") ?? 0) : 0
    const page = found.slice(offset, offset + limit)
    if (!isPaged || offset + limit >= found.length) return replies.pets(page)
    given.set("offset", String(offset + limit))
    return replies.pets(page, [["Link", `<${petsPath}?${given}>; rel="next"`]])
  }

  const createPet = (
    animals: Catalogue,
    { body = new Uint8Array(), headers }: WireRequest,
    now: number
  ): Replies.Reply => {
    const values = (wanted: string) =>
      headers.flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []))
    const [type = ""] = values("content-type")
    const types = { any: /^/, 415: /^\s*application\/json\s*(;|$)/i, "exactly JSON": /^application\/json$/ }
    if (!types[choices.contentTypes].test(type)) return replies.error(415)
    if (choices.contentEncoding === 415 && values("content-encoding").length > 0) return replies.error(415)
    if (choices.chunks === 411 && values("transfer-encoding").length > 0) return replies.error(411)
    if (body.length > choices.largestBody) return replies.error(413)
    const newPet = Bodies.newPet(body, choices)
    return newPet === undefined ? replies.error(400) : replies.pet(201, animals.add(newPet, now))
  }

  const getPet = (animals: Catalogue, given: string, now: number): Replies.Reply => {
    const petId = choices.petIdForm === "decoded" ? decoded(given) : given
    const form = choices.petIdForm === "shortest" ? /^(?:0|-?[1-9]\d*)$/ : /^-?\d+$/
    const id = form.test(petId) ? Bodies.int64(petId) : undefined
    if (id === undefined) return replies.error(choices.badPetId)
    const pet = animals.find(id, now)
    return pet === undefined ? replies.error(404) : replies.pet(200, pet)
  }

  // Routing

  const placeOf = (target: string): Place | undefined => {
    const [given = "", ...queries] = target.split("?")
    const query = queries.join("?")
    const path = choices.trailingSlash === 404 ? given : given.replace(/\/$/, "")
    const isSlashed = path !== given
    if (path === petsPath) return { query, isSlashed }
    const petId = path.startsWith(`${petsPath}/`) ? path.slice(petsPath.length + 1) : ""
    return petId === "" || petId.includes("/") ? undefined : { query, petId, isSlashed }
  }

  const byMethod = (
    method: string,
    operations: Readonly<Record<string, () => Replies.Reply>>
  ): Replies.Reply => {
    const all = new Map(Object.entries(operations))
    const get = all.get("GET")
    if (choices.head === "as GET" && get !== undefined) all.set("HEAD", get)
    const methods = [...all.keys(), ...(choices.options === 204 ? ["OPTIONS"] : [])]
    const allow: Header = ["Allow", methods.join(", ")]
    if (method === "OPTIONS" && choices.options === 204) return { status: 204, headers: [allow] }
    const head = choices.head === "as GET" ? 405 : choices.head
    const status = method === "HEAD" ? head : method === "OPTIONS" ? 405 : choices.otherMethods
    return all.get(method)?.() ?? replies.error(status, [allow])
  }

  const deprecation: ReadonlyArray<Header> = [
    ["Deprecation", "@1767225600"],
    ["Sunset", new Date(removedAt).toUTCString()]
  ]

  /** Responds to an admitted caller with a valid key. */
  const route = (request: WireRequest, caller: Callers.Caller, now: number): Replies.Reply => {
    const place = placeOf(request.target)
    if (place === undefined) return replies.error(404)
    const { isSlashed, petId, query } = place
    if (isSlashed && choices.trailingSlash === 308) {
      return { status: 308, headers: [["Location", request.target.replace(/\/(?=\?|$)/, "")]] }
    }
    const animals = catalogueOf(caller)
    if (petId === undefined) {
      return byMethod(request.method, {
        GET: () => listPets(animals, query, now),
        POST: () => createPet(animals, request, now)
      })
    }
    const reply =
      now < removedAt
        ? byMethod(request.method, { GET: () => getPet(animals, petId, now) })
        : replies.error(choices.removed)
    return choices.deprecationHeaders ? { ...reply, headers: [...reply.headers, ...deprecation] } : reply
  }

  const isDescribed = ({ method, target }: WireRequest): boolean => {
    const place = placeOf(target)
    return place !== undefined && (method === "GET" || (method === "POST" && place.petId === undefined))
  }

  /** Responds to a caller without a valid key. */
  const unauthorized = ({ target }: WireRequest): Replies.Reply => {
    if (choices.unknownPathWithoutKey === 404 && placeOf(target) === undefined) return replies.error(404)
    return replies.error(401, choices.challenge ? [["WWW-Authenticate", 'Bearer realm="pets"']] : [])
  }

  const replyTo = (request: WireRequest, caller: Callers.Caller, now: number): Replies.Reply => {
    if (callers.isDenied(caller, now)) {
      const { retryAfter, status } = callers.deny(caller, now)
      return replies.error(status, retryAfter === undefined ? [] : [["Retry-After", retryAfter]])
    }
    const reply = caller.hasKey ? route(request, caller, now) : unauthorized(request)
    if (choices.undescribed === "counted" || isDescribed(request)) callers.count(caller, reply.status, now)
    return reply
  }

  const serve = (request: WireRequest): WireResponse => {
    const now = Math.floor(options.now())
    const caller = callers.of(request)
    const { headers, json = "", status } = replyTo(request, caller, now)
    const all: ReadonlyArray<Header> = [
      ...headers,
      ...callers.rateHeaders(caller, now),
      ...(choices.date === false
        ? []
        : [["Date", new Date(choices.date === true ? now : startedAt).toUTCString()] as const])
    ]
    return {
      status,
      headers: all.map(([name, value]) => [cased[choices.headerNames](name), value]),
      body: new TextEncoder().encode(request.method === "HEAD" ? "" : json)
    }
  }
  return (request) => Effect.sync(() => serve(request))
}
