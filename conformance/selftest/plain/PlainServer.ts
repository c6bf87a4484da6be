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
    const limit = /^-?\d+$/.test(given) ? Number(given) : undefined
    if (choices.badLimit === "clamped") return Math.min(Math.max(limit ?? 20, 1), 100)
    return limit !== undefined && limit >= 1 && limit <= 100 ? limit : undefined
  }

  const listPets = (animals: Catalogue, query: string): Replies.Reply => {
    const given = new URLSearchParams(query)
    const known = choices.paging === "link" ? ["limit", "status", "offset"] : ["limit", "status"]
    const isStrict = choices.unknownParameters === 400
    if (isStrict && [...given.keys()].some((name) => !known.includes(name))) return replies.error(400)
    const limit = limitOf(given.get("limit"))
    if (limit === undefined) return replies.error(choices.badLimit === 422 ? 422 : 400)
    const status = given.get("status")
    if (status !== null && !Bodies.isStatus(status)) {
      return choices.unknownStatus === "matches nothing"
        ? replies.pets([])
        : replies.error(choices.unknownStatus)
    }
    const found = animals.list(status)
    if (choices.order === "shuffled") return replies.pets(animals.draw(found, limit))
    const offset = choices.paging === "link" ? Number(/^\d{1,9}$/.exec(given.get("offset") ?? "0") ?? 0) : 0
    const page = found.slice(offset, offset + limit)
    if (choices.paging === "none" || offset + limit >= found.length) return replies.pets(page)
    given.set("offset", String(offset + limit))
    return replies.pets(page, [["Link", `<${petsPath}?${given}>; rel="next"`]])
  }

  const createPet = (
    animals: Catalogue,
    { body = new Uint8Array(), headers }: WireRequest
  ): Replies.Reply => {
    const isJson = headers.some(
      ([name, value]) => name.toLowerCase() === "content-type" && /^\s*application\/json\s*(;|$)/i.test(value)
    )
    if (choices.contentTypes === 415 && !isJson) return replies.error(415)
    if (body.length > choices.largestBody) return replies.error(413)
    const newPet = Bodies.newPet(body, choices)
    return newPet === undefined ? replies.error(400) : replies.pet(201, animals.add(newPet))
  }

  const getPet = (animals: Catalogue, petId: string): Replies.Reply => {
    const id = /^-?\d+$/.test(petId) ? Bodies.int64(petId) : undefined
    if (id === undefined) return replies.error(choices.badPetId)
    const pet = animals.find(id)
    return pet === undefined ? replies.error(404) : replies.pet(200, pet)
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
    const isOther = method !== "HEAD" && method !== "OPTIONS"
    return all.get(method)?.() ?? replies.error(isOther ? choices.otherMethods : 405, [allow])
  }

  const deprecation: ReadonlyArray<Header> = [
    ["Deprecation", "@1767225600"],
    ["Sunset", new Date(removedAt).toUTCString()]
  ]

  /** Responds to an admitted caller with a valid key. */
  const route = (request: WireRequest, caller: Callers.Caller, now: number): Replies.Reply => {
    const place = placeOf(request.target)
    if (place === undefined) return replies.error(404)
    const { petId, query } = place
    const animals = catalogueOf(caller)
    if (petId === undefined) {
      return byMethod(request.method, {
        GET: () => listPets(animals, query),
        POST: () => createPet(animals, request)
      })
    }
    const reply =
      now < removedAt
        ? byMethod(request.method, { GET: () => getPet(animals, petId) })
        : replies.error(choices.removed)
    return choices.deprecationHeaders ? { ...reply, headers: [...reply.headers, ...deprecation] } : reply
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
    callers.count(caller, reply.status, now)
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
