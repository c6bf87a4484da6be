/** Programs about methods, paths and headers, and about what comes before a request. */
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Headers from "./Headers.ts"
import * as Paths from "./Paths.ts"
import { type Program, program, type Sent } from "./Program.ts"

export const programs: ReadonlyArray<Program> = [
  program("methods and paths", { profile: "core", requests: 100, anonymous: 20 }, function* (tools) {
    yield* Calls.stock(tools, 4)
    const animals = tools.created()
    // An unknown method may change an animal, so only one is used.
    const id = animals[animals.length >> 1]?.id ?? Calls.UNKNOWN_ID
    const known = ["/pets", "/pets/ID", `/pets/${Calls.UNKNOWN_ID}`]
    const all: Array<Sent> = []
    for (const method of Paths.methods) for (const path of known) all.push({ method, path })
    const methodOf = yield* Draw.swarm(["POST", ...Paths.methods])
    for (const path of Paths.paths) all.push({ path })
    for (const path of yield* Draw.some(Paths.paths, 6)) all.push({ method: yield* methodOf, path })
    const sent = all.map(({ method = "GET", path }): Sent => {
      const body = /^(?:POST|PUT|PATCH)$/.test(method) ? Bodies.creation(Calls.members(tools)) : {}
      return { ...body, method, path: path.replaceAll("ID", String(id)) }
    })
    for (const authorization of [[], ["Bearer no-such-key-0123456789"]])
      for (const each of yield* Draw.some(sent.slice(0, all.length), 12))
        sent.push({ ...each, authorization })
    yield* Calls.sendAll(tools, yield* Random.shuffle(sent))
  }),
  program("headers", { profile: "core", requests: 80, anonymous: 3 }, function* (tools) {
    yield* Calls.stock(tools, 4)
    const callOf = yield* Draw.swarm(Calls.all)
    const all = [...Calls.operations.slice(0, 4), Calls.calls["creation without a name"]]
    const rows = Headers.accepts.flatMap((header) => all.map((call) => ({ header, call })))
    for (const header of Headers.others) rows.push({ header, call: yield* callOf })
    const sent: Array<Sent> = []
    for (const { call, header } of rows) {
      const { headers = [], ...each } = yield* call(tools)
      sent.push({ ...each, headers: [...headers, header] })
    }
    // A body or a query that no operation describes.
    for (const method of ["GET", "HEAD", "DELETE"])
      for (const path of ["/pets", `/pets/${Calls.UNKNOWN_ID}`]) sent.push({ method, path, json: "{}" })
    for (const query of ["limit=0", "status=sold"])
      sent.push({ ...(yield* Calls.calls.creation(tools)), path: `/pets?${query}` })
    yield* Calls.sendAll(tools, yield* Random.shuffle(sent))
  }),
  /** Sends each kind of request directly after each other kind and after itself. */
  program("what came before", { profile: "core", requests: 98, anonymous: 14 }, function* (tools) {
    const { calls } = Calls
    const kinds = [
      ...[calls.list, calls.creation, calls["the first"], calls["an unknown id"], calls["no key"]],
      ...[calls["creation without a name"], calls["OPTIONS of the list"]]
    ]
    const pairs = kinds.flatMap((first) => kinds.map((second) => [first, second]))
    for (const call of (yield* Random.shuffle(pairs)).flat()) yield* Calls.send(tools, call)
  })
]
