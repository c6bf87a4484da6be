/** Programs that send every request of the tables: creations, lists, retrievals, and what the contract does not describe. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Headers from "./Headers.ts"
import * as Names from "./Names.ts"
import * as Paths from "./Paths.ts"
import { type Program, program, type Sent, type Tools } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** Creations with each unusual value, name and category. */
const creations = Effect.fnUntraced(function* (tools: Tools) {
  const sent: Array<Sent> = []
  // An animal of a rejected creation would be found by a status that the server sets only if it reads it.
  for (const change of Bodies.unusual)
    sent.push(change(Calls.members(tools, { status: yield* Draw.one(["sold", "pending"]) })))
  for (const categoryId of Bodies.categories)
    sent.push(Bodies.creation(Calls.members(tools, { categoryId, status: yield* Calls.newStatus })))
  const names: Array<string> = [...Names.whole]
  for (const content of Names.contents)
    for (const place of yield* Draw.some(Names.positions, 2)) names.push(place(tools.name(), content))
  const countOf = yield* Draw.swarm(Object.values(Names.units))
  for (const length of [...Names.lengths, ...Names.lengths])
    names.push(Names.ofLength(tools.name(), yield* Draw.one(Names.characters), length, yield* countOf))
  // Some servers read noncharacters only as themselves, or only as escapes.
  for (const form of [Bodies.plain, ...Bodies.forms.slice(0, 1)])
    sent.push(Bodies.creation(Calls.members(tools, { name: tools.name("\ufffe\uffff") }), form))
  // Some animals twice: the contract does not say whether names are unique.
  for (const name of [...names, ...(yield* Draw.some(names, 4))])
    sent.push(Bodies.creation(Calls.members(tools, { name, status: yield* Calls.newStatus })))
  return sent
})

/** Returns GET requests of all paths, and HEAD requests of some. */
const gets = (paths: ReadonlyArray<string>, heads: number): Effect.Effect<ReadonlyArray<Sent>> =>
  Effect.map(Draw.some(paths, heads), (some) => [
    ...paths.map((path) => ({ path })),
    ...some.map((path) => ({ method: "HEAD", path }))
  ])

/** Lists with each limit, status and other parameter, alone and together. */
const lists = Effect.fnUntraced(function* () {
  const filterOf = yield* Draw.swarm(Queries.filters.slice(1))
  const limitOf = yield* Draw.swarm(Queries.limits.map((limit) => `limit=${limit}`))
  const rows: Array<ReadonlyArray<string>> = []
  for (const limit of [...Queries.limits, ...Queries.otherNumbers])
    rows.push([`limit=${limit}`], [`limit=${limit}`, yield* filterOf])
  for (const limit of Queries.unusualLimits)
    rows.push([`limit=${limit}`, yield* Draw.one(["", yield* filterOf])])
  for (const status of Queries.unusualStatuses)
    rows.push([`status=${status}`, yield* Draw.one(["limit=100", yield* limitOf])])
  for (const parameter of Queries.others)
    rows.push([parameter, yield* Draw.one(["", yield* limitOf, yield* filterOf])])
  // A parameter may also change what another one means, by its place.
  const paths = ["limit=2", yield* filterOf].flatMap((given) => [
    Queries.list(given, "zz=1"),
    Queries.list("zz=1", given)
  ])
  for (const row of rows) paths.push(Queries.list(...(yield* Random.shuffle(row))))
  return yield* gets(paths, 10)
})

/** Retrievals of every spelling of an id. */
const retrievals = Effect.fnUntraced(function* ({ created }: Tools) {
  const ids = created().map(({ id }) => id)
  const segments: Array<string> = [...Paths.otherIds, ...(yield* Draw.some(ids, 8)).map(String)]
  for (const spell of Paths.spellings) segments.push(spell(yield* Draw.one([...ids, 1n])))
  return yield* gets(
    segments.map((segment) => `/pets/${segment}`),
    4
  )
})

/** Each method and path. */
const paths = Effect.fnUntraced(function* (tools: Tools) {
  // An unknown method may change an animal, so only one is used.
  const id = String(tools.created()[2]?.id ?? Calls.UNKNOWN_ID)
  const all = Paths.paths.map((path) => ({ method: "GET", path }))
  for (const path of ["/pets", "/pets/ID", `/pets/${Calls.UNKNOWN_ID}`])
    for (const method of Paths.methods) all.push({ method, path })
  for (const path of yield* Draw.some(Paths.paths, 6))
    all.push({ method: yield* Draw.one(["POST", ...Paths.methods]), path })
  return all.map(({ method, path }): Sent => {
    const body = /^(?:POST|PUT|PATCH)$/.test(method) ? Bodies.creation(Calls.members(tools)) : {}
    return { ...body, method, path: path.replaceAll("ID", id) }
  })
})

/** Requests with headers, a body or a query that the contract does not describe. */
const headers = Effect.fnUntraced(function* (tools: Tools) {
  const all = [...Calls.operations.slice(0, 4), Calls.calls["creation without a name"]]
  const rows = Headers.accepts.flatMap((header) => all.map((call) => ({ header, call })))
  for (const header of Headers.others) rows.push({ header, call: yield* Draw.one(Calls.all) })
  const sent: Array<Sent> = []
  for (const { call, header } of rows) {
    const { headers = [], ...each } = yield* call(tools)
    sent.push({ ...each, headers: [...headers, header] })
  }
  for (const method of ["GET", "HEAD", "DELETE"])
    for (const path of ["/pets", `/pets/${Calls.UNKNOWN_ID}`]) sent.push({ method, path, json: "{}" })
  for (const query of ["limit=0", "status=sold"])
    sent.push({ ...(yield* Calls.calls.creation(tools)), path: `/pets?${query}` })
  return sent
})

/** Returns every request of the tables, in random order. */
export const all = Effect.fnUntraced(function* (tools: Tools) {
  const kinds = [creations(tools), lists(), retrievals(tools), paths(tools), headers(tools)]
  return yield* Random.shuffle((yield* Effect.all(kinds)).flat())
})

export const firstPrograms: ReadonlyArray<Program> = [
  program("growing store", { profile: "core", requests: 65 }, function* (tools) {
    // The first request of the main key is a list of what may be an empty store, or a creation.
    if (yield* Random.nextBoolean) yield* Calls.createUnusual(tools, "available")
    // A list is short, exactly full and too short for all animals, also by the default limit of 20.
    for (const animals of [0, 1, 2, 20, 21]) {
      // The first animals are unusual, because the first one of a list may be treated differently.
      for (const status of Queries.statuses.slice(tools.created().length, animals))
        yield* Calls.createUnusual(tools, status)
      yield* Calls.stock(tools, animals)
      if (tools.created().length < animals) return
      const limits = [animals - 1, animals, animals + 1].filter((limit) => limit > 0)
      for (const limit of limits) yield* tools.send({ path: Queries.list(`limit=${limit}`) })
      yield* tools.send({ path: "/pets" })
      for (const status of Queries.statuses) yield* tools.send({ path: Queries.list(`status=${status}`) })
    }
    for (const status of yield* Random.shuffle(Queries.statuses)) yield* Calls.createUnusual(tools, status)
    for (const { id } of tools.created().slice(-4)) yield* tools.send({ path: `/pets/${id}` })
    yield* Calls.lookAtLists(tools)
  })
]

export const programs: ReadonlyArray<Program> = [
  /** All kinds in random order, so that each one comes after others, and at other times and numbers of animals. */
  program("requests", { profile: "core", requests: 925 }, function* (tools) {
    // More animals than a list without a limit may show.
    for (const status of Queries.statuses) yield* Calls.stock(tools, 21, status)
    yield* Calls.sendAll(tools, yield* all(tools))
  })
]
