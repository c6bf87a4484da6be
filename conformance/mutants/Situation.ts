/** What is known about a request when a mutant decides whether to be wrong. */
import * as Effect from "effect/Effect"
import type { World } from "../gallery/Fault.ts"
import * as Requests from "../gallery/spoilers/Requests.ts"
import type { Animal } from "../http/Animal.ts"
import type { Transport, WireRequest, WireResponse } from "../http/Wire.ts"

export interface Situation {
  readonly request: WireRequest
  /** The request without the body of `HEAD` in mind: what a `GET` of the same target would call. */
  readonly operation: "list" | "create" | "get" | "other"
  readonly key: "main" | "tiny" | "victim" | "other"
  /** Its number among the requests to the server, from 1. */
  readonly count: number
  /** Its number among the requests of its key, from 1. */
  readonly keyCount: number
  /** Epoch ms at the server. */
  readonly now: number
  /** Whether the previous response to its key was a 429. */
  readonly afterDenial: boolean
  /** Absent while the request is on its way to the server. */
  readonly response?: WireResponse
  /** The animal that is changed, if the place is a part of one. */
  readonly animal?: Animal | undefined
}

const operationOf = (request: WireRequest): Situation["operation"] => {
  const asGet = request.method === "HEAD" ? { ...request, method: "GET" } : request
  if (Requests.isList(asGet)) return "list"
  if (Requests.isCreation(request)) return "create"
  return Requests.isGet(asGet) ? "get" : "other"
}

const keyOf = (request: WireRequest, { keys }: World): Situation["key"] => {
  const names = ["main", "tiny", "victim"] as const
  return names.find((name) => Requests.hasKey(request, keys[name])) ?? "other"
}

/** Follows the requests of one server. */
export interface Tracker {
  /** The situation of the latest request, for decisions inside the server. */
  readonly current: () => Situation | undefined
  /** Lets a transport be followed; `through` sees each situation, and may change the request and its response. */
  readonly follow: (
    through: (real: Transport, situation: Situation) => ReturnType<Transport>
  ) => (real: Transport, world: World) => Transport
}

export const make = (): Tracker => {
  let current: Situation | undefined
  let count = 0
  const counts = new Map<string, number>()
  const denied = new Set<string>()
  return {
    current: () => current,
    follow: (through) => (real, world) => (request) =>
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
          afterDenial: denied.has(key)
        }
        const observed: Transport = (sent) => {
          current = situation
          return Effect.tap(real(sent), ({ status }) =>
            Effect.sync(() => (status === 429 ? denied.add(key) : denied.delete(key)))
          )
        }
        return through(observed, situation)
      })
  }
}
