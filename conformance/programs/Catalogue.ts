/** Programs about animals: creations with every content, name, form and defect, and how animals are shown. */
import * as Effect from "effect/Effect"
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
  }),
  program("values of each field", { profile: "core", requests: 105 }, function* (tools) {
    const values = Object.entries(Bodies.fieldValues)
    const sent: Array<Sent> = []
    for (const [field, all] of values) {
      for (const json of all) {
        // An animal of a rejected creation would be found by its status.
        const valid = Calls.members(tools, { status: yield* Draw.one(shown) })
        sent.push(Bodies.creation(Calls.withValue(valid, field, json)))
      }
    }
    for (let more = 0; more < 3; more++) {
      let both = Calls.members(tools)
      for (const [field, all] of values) both = Calls.withValue(both, field, yield* Draw.one(all))
      sent.push(Bodies.creation(both))
    }
    for (const categoryId of Bodies.categories)
      sent.push(Bodies.creation(Calls.members(tools, { categoryId, status: yield* Calls.newStatus })))
    yield* Calls.createAll(tools, yield* Random.shuffle(sent))
  }),
  program("forms of bodies", { profile: "core", requests: 171 }, function* (tools) {
    const sent: Array<Sent> = []
    const valid = Effect.map(Draw.one(shown), (status) => Calls.members(tools, { status }))
    // Each form of JSON writes names that it may spoil.
    for (const form of Bodies.forms) {
      for (const content of ["", '\u00e9"\\', "\u{1f98a}"]) {
        const given = { name: tools.name(content), status: yield* Draw.one(shown) }
        sent.push(Bodies.creation(Calls.members(tools, given), form))
      }
    }
    for (const form of Bodies.unusualForms) sent.push(Bodies.creation(yield* valid, form))
    for (const types of Bodies.contentTypes) {
      for (const content of ["", "\u00e9\u{1f98a}"]) {
        const given = { name: tools.name(content), status: yield* Draw.one(shown) }
        sent.push(Bodies.creation(Calls.members(tools, given), Bodies.plain, types))
      }
    }
    for (const added of Bodies.additions) {
      // A member that is taken for the status shows if none was sent.
      const own = /^"status"/i.test(added) ? Calls.members(tools) : yield* valid
      sent.push(Bodies.creation(own, Bodies.adding(added)))
    }
    for (const [field, others] of Object.entries(Bodies.otherNames)) {
      for (const other of others) {
        const renamed = (yield* valid).map(([name, json]) => [name === field ? other : name, json] as const)
        sent.push(Bodies.creation(renamed))
      }
    }
    yield* Calls.createAll(tools, yield* Random.shuffle(sent))
  }),
  program("names", { profile: "core", requests: 148 }, function* (tools) {
    const dress = yield* Calls.dresser
    const all: Array<string> = [...Names.whole]
    const places = Names.positions
    for (const content of Names.contents) {
      // Blanks, controls and surrogates mean something else elsewhere.
      const isInvisible = /^[\s\p{C}]+$/u.test(content)
      for (const place of yield* Draw.some(places, isInvisible ? 2 : 1))
        all.push(place(tools.name(), content))
    }
    const countOf = yield* Draw.swarm(Object.values(Names.units))
    for (const length of [...Names.lengths, ...(yield* Draw.some(Names.lengths, 2))])
      all.push(Names.ofLength(tools.name(), yield* Draw.one(Names.characters), length, yield* countOf))
    const sent: Array<Sent> = []
    for (const name of all) {
      const status = yield* Calls.newStatus
      sent.push(yield* dress(Bodies.creation(Calls.members(tools, { name, status }))))
    }
    // Some animals twice: the contract does not say whether names are unique.
    sent.push(...(yield* Draw.some(sent, 4)))
    yield* Calls.createAll(tools, yield* Random.shuffle(sent))
  })
]
