/** Tracks what is known about a request when the condition of a mutant is evaluated. */
import * as Effect from "effect/Effect"
import type { Animal } from "../../http/Animal.ts"
import type { Transport, WireRequest, WireResponse } from "../../http/Wire.ts"
import type { World } from "../Fault.ts"
import * as Requests from "../spoilers/Requests.ts"

export interface Situation {
  readonly request: WireRequest
  /** The operation of the request; for `HEAD`, that of a `GET` of the same target. */
  readonly operation: "list" | "create" | "get" | "other"
  readonly key: "main" | "tiny" | "victim" | "revoked" | "other"
  /** The number of the request among all requests to the server, from 1. */
  readonly count: number
  /** The number of the request among the requests of its key, from 1. */
  readonly keyCount: number
  /** The server's time in epoch milliseconds. */
  readonly now: number
  /** Whether the previous response to its key was a 429. */
  readonly afterDenial: boolean
  /** How many 429s its key got. */
  readonly denials: number
  /** Absent until the server has responded. */
  readonly response?: WireResponse
  /** The animal that is changed, if the place is a field of an animal. */
  readonly animal?: Animal | undefined
}

const operationOf = (request: WireRequest): Situation["operation"] => {
  const asGet = request.method === "HEAD" ? { ...request, method: "GET" } : request
  if (Requests.isList(asGet)) return "list"
  if (Requests.isCreation(request)) return "create"
  return Requests.isGet(asGet) ? "get" : "other"
}

const keyOf = (request: WireRequest, { keys }: World): Situation["key"] => {
  const names = ["main", "tiny", "victim", "revoked"] as const
  return names.find((name) => Requests.hasKey(request, keys[name])) ?? "other"
}

/** Tracks the requests to one server. */
export interface Tracker {
  /** The situation of the latest request, for decisions inside the server. */
  readonly current: () => Situation | undefined
  /** Wraps a transport to track its requests; `handle` gets each situation, and may change request and response. */
  readonly follow: (
    handle: (real: Transport, situation: Situation) => ReturnType<Transport>
  ) => (real: Transport, world: World) => Transport
}

export const make = (): Tracker => {
  let current: Situation | undefined
  let count = 0
  const counts = new Map<string, number>()
  const denied = new Set<string>()
  const denials = new Map<string, number>()
  return {
    current: () => current,
    follow: (handle) => (real, world) => (request) =>
      Effect.suspend(() => {
        const key = keyOf(request, world)
        const keyCount = (counts.get(key) ?? 0) + 1
        counts.set(key, keyCount)
        const situation: Situation = {
          request,
          operation: operationOf(request),
          key,
          count: ++count,
          keyCount,
          now: world.now(),
          afterDenial: denied.has(key),
          denials: denials.get(key) ?? 0
        }
        const observed: Transport = (sent) => {
          current = situation
          return Effect.tap(real(sent), ({ status }) =>
            Effect.sync(() => {
              if (status !== 429) return denied.delete(key)
              denials.set(key, (denials.get(key) ?? 0) + 1)
              return denied.add(key)
            })
          )
        }
        return handle(observed, situation)
      })
  }
}
