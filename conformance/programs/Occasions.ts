/** Programs about the key and the moment of a request. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as RateHeaders from "../http/RateHeaders.ts"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import * as Headers from "./Headers.ts"
import { moments } from "./Moments.ts"
import type { Program, Sent } from "./Program.ts"
import * as Queries from "./Queries.ts"

const DAY_MS = 86_400_000

/** Uses each key for each operation: its first requests, and creations that are shown to the same key. */
const keys: Program = {
  name: "small keys",
  profile: "limits",
  needs: ["clock"],
  requests: 36,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 4)
    // What the first request of a key gets may differ, and is compared with what the second one gets.
    const beginnings = yield* Draw.some(["list by status", "create", "get the first"] as const, 2)
    const ends = [" \n\u00e9<&", "\u{1f98a}".repeat(40), ""]
    for (const [index, key] of (["tiny", "victim"] as const).entries()) {
      const plan = tools.plans[key]
      if (plan === undefined) continue
      let count = 0
      const send = Effect.fnUntraced(function* (sent: Sent) {
        if (count > 0 && count % plan.perMinute === 0) yield* tools.advance(RateHeaders.MINUTE_PASSED_MS)
        if (count++ < plan.perDay) yield* tools.sendOnce({ ...sent, key })
      })
      const first: Sent = yield* Calls.calls[beginnings[index] ?? "list"](tools)
      yield* send(first)
      yield* send(first)
      for (const [at, status] of Queries.statuses.entries()) {
        const categoryId = tools.categories === "any" ? yield* Draw.one(Bodies.categories) : undefined
        yield* send(Bodies.creation(Calls.members(tools, { name: tools.name(ends[at]), categoryId, status })))
        yield* send(Bodies.creation(Calls.members(tools, { status })))
        yield* send({ path: Queries.list(`status=${status}`, "limit=100") })
        yield* send({ path: Queries.list("limit=1", `status=${status}`) })
      }
      for (const call of ["get the newest", "get none", "HEAD of the list", "create without a name"] as const)
        yield* send(yield* Calls.calls[call](tools))
      yield* tools.advance(2 * DAY_MS)
    }
  })
}

/** Sends each operation at each moment. */
const times: Program = {
  name: "moments",
  profile: "limits",
  needs: ["clock"],
  requests: 88,
  run: Effect.fnUntraced(function* (tools) {
    const calls = ["list by status", "create", "get none", "create without a name"] as const
    const invalid = Object.values(Credentials.invalid).slice(0, 2)
    for (const next of Object.values(moments)) {
      const now = yield* tools.now
      yield* tools.advance(next(now) - now)
      for (const call of yield* Random.shuffle(calls)) yield* Calls.send(tools, call)
      yield* Calls.createUnusual(tools, yield* Draw.one(Queries.statuses))
      yield* Calls.send(tools, "get the newest")
      for (const derive of invalid) {
        const call = yield* Draw.one(["list", "create", "get the first"] as const)
        yield* tools.send(Credentials.withCredential(yield* Calls.calls[call](tools), derive(tools.mainKey)))
      }
    }
  })
}

/** Sends each operation with each harmless header again, after everything else has happened. */
export const afterwards: Program = {
  name: "afterwards",
  profile: "core",
  requests: 40,
  run: Effect.fnUntraced(function* (tools) {
    const calls = [
      "list by status",
      "create",
      "get none",
      "create without a name",
      "list",
      "HEAD of the list"
    ] as const
    for (const { call, headers } of yield* Draw.pairs({ call: calls, headers: Headers.harmless })) {
      const sent: Sent = yield* Calls.calls[call](tools)
      yield* tools.send({ ...sent, headers: [...(sent.headers ?? []), ...headers] })
    }
    yield* Calls.lookAtLists(tools)
  })
}

export const programs: ReadonlyArray<Program> = [keys, times]
