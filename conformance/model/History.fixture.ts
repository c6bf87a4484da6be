/** Sends a small history to a plain server, which may have one fault, and judges it. */
import * as Effect from "effect/Effect"
import type { Header, WireRequest, WireResponse } from "../http/Wire.ts"
import * as Wire from "../http/Wire.ts"
import type { Choices } from "../selftest/plain/Choices.ts"
import * as PlainServer from "../selftest/plain/PlainServer.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import type { Exchange, Setup, Violation } from "./Exchange.ts"
import * as Model from "./Model.ts"

/** One request of a history. */
export interface Sent {
  readonly method?: string
  /** Path and query below the base address; `/pets` by default. */
  readonly path?: string
  /** Value of `Authorization`; that of the valid key by default, none if `null`. */
  readonly authorization?: string | null
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string
  /** The time that passes before it, in milliseconds. */
  readonly afterMs?: number
}

export const SECRET = "Secret-0123456789"

/** Makes a server faulty: changes a request before the server gets it, or its response. */
export interface Fault {
  readonly request?: (request: WireRequest) => WireRequest
  readonly response?: (response: WireResponse, request: WireRequest) => WireResponse
}

export interface World {
  readonly choices?: Partial<Choices>
  readonly plan?: { readonly perMinute: number; readonly perDay: number }
  readonly fault?: Fault
}

const plenty = { perMinute: 1_000, perDay: 100_000 }

/** A morning, at a full minute. */
const START = Date.parse("2027-03-04T09:00:00Z")

export const setupOf = ({ plan = plenty }: World = {}): Setup => ({
  basePath: "/v1",
  categories: "any",
  keys: [{ name: "main", secret: SECRET, plan, isValid: true }]
})

/** Creates the animal with this name, as JSON. */
export const creation = (name: string, headers: ReadonlyArray<Header> = []): Sent =>
  posted(JSON.stringify({ name, categoryId: 1 }), headers)

export const posted = (body: string, headers: ReadonlyArray<Header> = []): Sent => ({
  method: "POST",
  headers: [["Content-Type", "application/json"], ...headers],
  body
})

/** Returns the exchanges of a history, one after the other. */
export const exchangesOf = (
  { choices, fault = {}, plan = plenty }: World,
  history: ReadonlyArray<Sent>
): ReadonlyArray<Exchange> => {
  let now = START
  const send = PlainServer.make({
    keys: [{ secret: SECRET, ...plan }],
    now: () => now,
    ...(choices && { choices })
  })
  return history.map(
    (
      { afterMs = 0, authorization = `Bearer ${SECRET}`, body, headers = [], method = "GET", path = "/pets" },
      index
    ) => {
      now += afterMs
      const request: WireRequest = {
        method,
        target: `/v1${path}`,
        headers: [...(authorization === null ? [] : [["Authorization", authorization] as const]), ...headers],
        body: body === undefined ? undefined : Wire.bytes(body)
      }
      const real = Effect.runSync(send(fault.request?.(request) ?? request))
      return {
        index,
        did: `${method} ${path}`,
        request,
        response: fault.response?.(real, request) ?? real,
        from: now,
        to: now,
        isAlone: true
      }
    }
  )
}

/** Judges exchanges, all alone or all in flight together, and returns every violation and what is known at the end. */
export const judge = (setup: Setup, exchanges: ReadonlyArray<Exchange>) => {
  let known = Model.begin(setup)
  const violations: Array<Violation> = []
  for (const group of exchanges.every(({ isAlone }) => isAlone)
    ? exchanges.map((each) => [each])
    : [exchanges]) {
    const judged = Model.judge(known, group)
    known = judged.known
    violations.push(...judged.violations)
  }
  return { violations: [...violations, ...Model.close(known).violations], known }
}

export const judgeHistory = (world: World, history: ReadonlyArray<Sent>) =>
  judge(setupOf(world), exchangesOf(world, history))

/** Changes the responses that a predicate selects. */
export const onResponses = (
  isChanged: (method: string, target: string, status: number) => boolean,
  edit: (response: Wire.WireResponse) => Wire.WireResponse
): Fault => ({
  response: (response, { method, target }) =>
    isChanged(method, target, response.status) ? edit(response) : response
})

/** Changes the requests that responses show as left. */
export function onRemaining(change: (remaining: number) => number): NonNullable<Fault["response"]> {
  return (response) =>
    Edit.header(
      "X-RateLimit-Remaining",
      String(change(Number(Wire.header(response, "x-ratelimit-remaining"))))
    )(response)
}

export const list: Sent = {}

export const times = (count: number, sent: Sent): ReadonlyArray<Sent> =>
  Array.from({ length: count }, () => sent)

/** Two minutes, each used up by three requests. */
export const minutes = [...times(3, list), { afterMs: 61_000 }, ...times(2, list)]
export const small = { perMinute: 3, perDay: 1_000 }
export const smallDay = { perMinute: 100, perDay: 3 }
