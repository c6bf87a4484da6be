/** Programs about animals: creations with every content, name, form and defect, and how animals are shown. */
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Names from "./Names.ts"
import { type Program, program, type Sent } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** Statuses that a server sets only if it reads them: usually not the one of an animal created without a status. */
const shown = ["sold", "pending"] as const

export const programs: ReadonlyArray<Program> = [
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

/** Sends creations with each unusual value, name and category. */
export const creations: ReadonlyArray<Program> = [
  program("creations", { profile: "core", requests: 415 }, function* (tools) {
    const sent: Array<Sent> = []
    // An animal of a rejected creation would be found by its status.
    for (const change of Bodies.unusual)
      sent.push(change(Calls.members(tools, { status: yield* Draw.one(shown) })))
    for (let more = 0; more < 4; more++) {
      const [first, second] = yield* Draw.some(Bodies.changes, 2)
      const both = [first, second].reduce(
        (members, change) => change?.(members) ?? members,
        Calls.members(tools)
      )
      sent.push(Bodies.creation(both))
    }
    for (const categoryId of Bodies.categories)
      sent.push(Bodies.creation(Calls.members(tools, { categoryId, status: yield* Calls.newStatus })))
    const names: Array<string> = [...Names.whole]
    for (const content of Names.contents) {
      // Blanks, controls and surrogates mean something else elsewhere.
      const isInvisible = /^[\s\p{C}]+$/u.test(content)
      for (const place of yield* Draw.some(Names.positions, isInvisible ? 2 : 1))
        names.push(place(tools.name(), content))
    }
    const countOf = yield* Draw.swarm(Object.values(Names.units))
    for (const length of [...Names.lengths, ...Names.lengths])
      names.push(Names.ofLength(tools.name(), yield* Draw.one(Names.characters), length, yield* countOf))
    // Some animals twice: the contract does not say whether names are unique.
    for (const name of [...names, ...(yield* Draw.some(names, 4))])
      sent.push(Bodies.creation(Calls.members(tools, { name, status: yield* Calls.newStatus })))
    yield* Calls.sendAll(tools, yield* Random.shuffle(sent))
  })
]
