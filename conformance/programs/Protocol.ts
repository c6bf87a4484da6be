/** Programs about HTTP: methods, paths, headers, what came before, the moment and the key. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Headers from "./Headers.ts"
import { moments } from "./Moments.ts"
import * as Names from "./Names.ts"
import * as Paths from "./Paths.ts"
import type { Program, Sent } from "./Program.ts"
import * as Queries from "./Queries.ts"

const requests: Program = {
  name: "methods and paths",
  profile: "core",
  requests: 140,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 4)
    const send = Calls.sender(tools)
    const animals = tools.created()
    const id = animals[animals.length >> 1]?.id ?? 1n
    // An unknown method may change an animal, so that only one animal is used.
    const at = (path: string) => path.replaceAll("ID", String(id))
    const known = [
      "/pets",
      "/pets/ID",
      `/pets/${Calls.UNKNOWN_ID}`,
      "/pets?limit=0",
      "/pets?limit=1&status=sold"
    ]
    const all: Array<Sent> = []
    for (const method of Paths.methods) for (const path of known) all.push({ method, path: at(path) })
    for (const path of Paths.paths) all.push({ path: at(path) })
    const methodOf = yield* Draw.swarm(["POST", ...Paths.methods])
    for (const path of [...Paths.paths, "/pets/ID"]) {
      const method = yield* methodOf
      const body = /^P(?:OST|UT|ATCH)$/.test(method) ? Bodies.creation(Calls.members(tools)) : {}
      all.push({ ...body, method, path: at(path) })
    }
    const invalid = [[], ["Bearer no-such-key-0123456789"]]
    for (const sent of yield* Random.shuffle(all)) {
      yield* tools.send(sent)
      if ((yield* Random.next) < 0.3) yield* send({ ...sent, authorization: yield* Draw.one(invalid) })
    }
    yield* Calls.lookAtLists(tools)
  })
}

const headers: Program = {
  name: "headers",
  profile: "core",
  requests: 100,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 4)
    const send = Calls.sender(tools)
    const calls = [
      "list",
      "create",
      "get the first",
      "create without a name",
      "get none",
      "HEAD of the list"
    ] as const
    const rows = yield* Draw.pairs({ header: Headers.accepts, call: [...calls, "without a key"] as const })
    const callOf = yield* Draw.swarm([...calls, "OPTIONS of the list"] as const)
    const others = yield* Effect.forEach([...Headers.others, ...Headers.others], (header) =>
      Effect.map(callOf, (call) => ({ header, call }))
    )
    for (const { call, header } of yield* Random.shuffle([...rows, ...others])) {
      const sent: Sent = yield* Calls.calls[call](tools)
      yield* send({ ...sent, headers: [...(sent.headers ?? []), header] })
    }
    // A body that no operation describes.
    for (const method of ["GET", "HEAD", "DELETE"])
      yield* tools.send({ method, path: `/pets/${Calls.UNKNOWN_ID}`, json: "{}" })
    yield* tools.send({ path: "/pets", json: "{}" })
    yield* tools.send({ ...(yield* Calls.creation(tools)), path: "/pets?limit=0" })
    yield* tools.send({ ...(yield* Calls.creation(tools)), path: "/pets?status=sold" })
    yield* Calls.lookAtLists(tools)
  })
}

/** Sends each kind of request directly after each other kind. */
const sequences: Program = {
  name: "what came before",
  profile: "core",
  requests: 280,
  run: Effect.fnUntraced(function* (tools) {
    const send = Calls.sender(tools)
    const names = Object.keys(Calls.calls) as ReadonlyArray<Calls.CallName> // exactly its keys
    const chosen = names.filter(
      (name) => !["list all", "no id", "HEAD of none", "an unknown status"].includes(name)
    )
    const left = new Map<Calls.CallName, Array<Calls.CallName>>()
    for (const name of chosen) left.set(name, yield* Random.shuffle(chosen))
    for (let now: Calls.CallName | undefined = chosen[0]; now !== undefined; ) {
      yield* send(yield* Calls.calls[now](tools))
      now = left.get(now)?.pop() ?? chosen.find((name) => (left.get(name)?.length ?? 0) > 0)
    }
  })
}

const small = ["tiny", "victim"] as const

/** Uses each key for each operation: the first requests, and creations that are shown to the same key. */
const keys: Program = {
  name: "small keys",
  profile: "limits",
  needs: ["clock"],
  requests: 70,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 4)
    const contents = [" \n\u00e9<&", "\u{1f98a}".repeat(40), ""]
    for (const key of small) {
      if (!tools.keys.has(key)) continue
      const plan = tools.plans[key]
      let sent = 0
      const send = Effect.fnUntraced(function* (request: Sent) {
        if (plan !== undefined && sent > 0 && sent % plan.perMinute === 0)
          yield* tools.advance(MINUTE_PASSED_MS)
        sent++
        return yield* tools.sendOnce({ ...request, key })
      })
      const first = yield* Calls.calls[key === "tiny" ? "list by status" : "get the first"](tools)
      yield* send(first)
      yield* send(first)
      for (const status of Queries.statuses) {
        const content = contents[Queries.statuses.indexOf(status)]
        const categoryId = tools.categories === "any" ? yield* Draw.one(Bodies.categories) : undefined
        const name = JSON.stringify(tools.name(content))
        const given = { name, status, ...(categoryId === undefined ? {} : { categoryId }) }
        yield* send(Bodies.creation(Calls.members(tools, given)))
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

const MINUTE_PASSED_MS = 61_000
const DAY_MS = 86_400_000

/** Sends each operation at each moment. */
const times: Program = {
  name: "moments",
  profile: "limits",
  needs: ["clock"],
  requests: 130,
  run: Effect.fnUntraced(function* (tools) {
    const calls = [
      "list by status",
      "create",
      "get the newest",
      "get none",
      "create without a name",
      "list"
    ] as const
    for (const next of Object.values(moments)) {
      const now = yield* tools.now
      yield* tools.advance(next(now) - now)
      for (const call of yield* Random.shuffle(calls)) yield* Calls.send(tools, call)
      yield* tools.send(
        Bodies.creation(
          Calls.members(tools, {
            name: JSON.stringify(tools.name(yield* Draw.one(Object.values(Names.contents))))
          })
        )
      )
      yield* Calls.send(tools, "get the newest")
      yield* Calls.lookAtLists(tools)
    }
  })
}

export const programs: ReadonlyArray<Program> = [requests, headers, sequences, keys, times]
