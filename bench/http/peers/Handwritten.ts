/** Serves with `node:http` and handwritten code for these operations, without a framework. */
import * as http from "node:http"
import { Animals, type Caller, type NewAnimal, type Status, statuses } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"
import { callerOf } from "./Bearer.ts"
import { type ErrorBody, failed, invalid, notFound, tooLarge, tooMany, unauthorized } from "./ErrorBody.ts"
import { nextLink } from "./NextLink.ts"

const MAX_BODY_BYTES = 64 * 1024
const WINDOW_MS = 60_000
const COLLECTION = "/v1/pets"
const MEMBER = "/v1/pets/"

/** The requests of one caller in one minute. */
interface Window {
  count: number
  resetsAt: number
}

const animals = new Animals()
// Only known callers have a window, so there are at most as many windows as callers.
const windows = new Map<string, Window>()

const currentWindow = (caller: Caller): Window => {
  const now = Date.now()
  let window = windows.get(caller.id)
  if (window === undefined || window.resetsAt <= now) {
    window = { count: 0, resetsAt: now + WINDOW_MS }
    windows.set(caller.id, window)
  }
  return window
}

/** A response before its value is encoded. */
interface Response {
  readonly status: number
  readonly value: unknown
  readonly link?: string | undefined
}

const failure = (errorBody: ErrorBody): Response => ({ status: errorBody.status, value: errorBody })

const send = (response: http.ServerResponse, { link, status, value }: Response): void => {
  const body = JSON.stringify(value)
  if (link !== undefined) response.setHeader("Link", link)
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body)
  })
  response.end(body)
}

const isStatus = (value: unknown): value is Status => statuses.some((status) => status === value)

const list = (query: string): Response => {
  let limit = 20
  let status: Status | undefined
  let after = 0
  if (query !== "") {
    const parameters = new URLSearchParams(query)
    const givenLimit = parameters.get("limit")
    if (givenLimit !== null) {
      limit = /^[0-9]{1,3}$/.test(givenLimit) ? Number(givenLimit) : 0
      if (limit < 1 || limit > 100) return failure(invalid("limit must be an integer from 1 to 100."))
    }
    const givenStatus = parameters.get("status")
    if (givenStatus !== null) {
      if (!isStatus(givenStatus)) return failure(invalid(`status must be one of ${statuses.join(", ")}.`))
      status = givenStatus
    }
    const givenCursor = parameters.get("cursor")
    if (givenCursor !== null) {
      if (!/^[0-9]{1,15}$/.test(givenCursor)) return failure(invalid("cursor is not one of this server."))
      after = Number(givenCursor)
    }
  }
  const page = animals.page(limit, status, after)
  return { status: 200, value: page.animals, link: nextLink(page, limit, status) }
}

const get = (id: string): Response => {
  if (!/^-?[0-9]+$/.test(id)) return failure(invalid("The id must be an integer."))
  const animal = animals.find(Number(id))
  return animal === undefined ? failure(notFound) : { status: 200, value: animal }
}

/** Parses the animal in `text`, or returns a message that describes the error. */
const parse = (text: string): NewAnimal | string => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return "The body is not JSON."
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "The body must be an object."
  // Every field of an object is `unknown` until it is checked.
  const { name, categoryId, status = "available" } = value as { readonly [field: string]: unknown }
  if (typeof name !== "string" || name.length < 1 || name.length > 255) {
    return "name must be a string of 1 to 255 characters."
  }
  if (typeof categoryId !== "number" || !Number.isSafeInteger(categoryId))
    return "categoryId must be an integer."
  if (!isStatus(status)) return `status must be one of ${statuses.join(", ")}.`
  return { name, categoryId, status }
}

const create = (text: string): Response => {
  const animal = parse(text)
  return typeof animal === "string"
    ? failure(invalid(animal))
    : { status: 201, value: animals.insert(animal) }
}

/** Reads the whole body; `onRead` receives `undefined` if it is too large. */
const read = (request: http.IncomingMessage, onRead: (text: string | undefined) => void): void => {
  const chunks: Array<Buffer> = []
  let size = 0
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  })
  request.on("end", () => {
    onRead(size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString("utf8") : undefined)
  })
}

const handle = (request: http.IncomingMessage, response: http.ServerResponse): void => {
  const caller = callerOf(request.headers.authorization)
  if (caller === undefined) {
    send(response, failure(unauthorized))
    return
  }

  const window = currentWindow(caller)
  const isDenied = window.count >= caller.perMinute
  if (!isDenied) window.count++
  response.setHeader("X-RateLimit-Limit", caller.perMinute)
  response.setHeader("X-RateLimit-Remaining", caller.perMinute - window.count)
  response.setHeader("X-RateLimit-Reset", Math.ceil(window.resetsAt / 1000))
  if (isDenied) {
    response.setHeader("Retry-After", Math.ceil((window.resetsAt - Date.now()) / 1000))
    send(response, failure(tooMany))
    return
  }

  const target = request.url ?? "/"
  const queryStart = target.indexOf("?")
  const path = queryStart < 0 ? target : target.slice(0, queryStart)
  if (path === COLLECTION && request.method === "GET") {
    send(response, list(queryStart < 0 ? "" : target.slice(queryStart + 1)))
  } else if (path === COLLECTION && request.method === "POST") {
    read(request, (text) => send(response, text === undefined ? failure(tooLarge) : create(text)))
  } else if (path.startsWith(MEMBER) && request.method === "GET") {
    send(response, get(path.slice(MEMBER.length)))
  } else send(response, failure(notFound))
}

const server = http.createServer((request, response) => {
  try {
    handle(request, response)
  } catch {
    send(response, failure(failed))
  }
})

Peer.serve(await Peer.listen(server))
