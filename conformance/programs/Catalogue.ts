/** Programs about animals: creations with every content, name, form and defect, and how animals are shown. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Names from "./Names.ts"
import type { Program, Sent } from "./Program.ts"
import * as Queries from "./Queries.ts"

const growing: Program = {
  name: "growing store",
  profile: "core",
  requests: 100,
  run: Effect.fnUntraced(function* (tools) {
    const statusOf = yield* Draw.swarm(Queries.statuses)
    // A list is short, exactly full and too short for all animals, also by the default limit of 20.
    for (const animals of [0, 1, 2, 3, 19, 20, 21]) {
      while (tools.created().length < animals) {
        const before = tools.created().length
        yield* tools.send(Bodies.creation(Calls.members(tools, { status: yield* statusOf })))
        if (tools.created().length === before) return
      }
      const limits = [animals - 1, animals, animals + 1].filter((limit) => limit > 0)
      for (const limit of limits) yield* tools.send({ path: Queries.list(`limit=${limit}`) })
      yield* tools.send({ path: "/pets" })
      for (const status of Queries.statuses) yield* tools.send({ path: Queries.list(`status=${status}`) })
      const animal = tools.created().at(-1)
      if (animal !== undefined) yield* tools.send({ path: `/pets/${animal.id}` })
    }
    yield* Calls.lookAtLists(tools)
  })
}

const defects: Program = {
  name: "values of each field",
  profile: "core",
  requests: 130,
  run: Effect.fnUntraced(function* (tools) {
    const sent: Array<Sent> = []
    for (const [field, values] of Object.entries(Bodies.fieldValues)) {
      for (const json of values) {
        // An animal of a rejected creation would be found by its status.
        const status = field === "status" ? undefined : yield* Draw.one(Queries.statuses)
        const valid = Calls.members(tools, status === undefined ? {} : { status })
        const others = valid.filter(([name]) => name !== field)
        sent.push(Bodies.creation(json === undefined ? others : [...others, [field, json]]))
      }
    }
    const both = Object.entries(Bodies.fieldValues)
    for (let more = 0; more < 8; more++) {
      const all = yield* Effect.forEach(both, ([field, values]) =>
        Effect.map(Draw.one(values), (json) => (json === undefined ? [] : [[field, json] as const]))
      )
      sent.push(Bodies.creation(all.flat()))
    }
    yield* Calls.createAll(tools, yield* Random.shuffle(sent), 40)
  })
}

const forms: Program = {
  name: "forms of bodies",
  profile: "core",
  requests: 220,
  run: Effect.fnUntraced(function* (tools) {
    const statusOf = yield* Draw.swarm(Queries.statuses)
    const sent: Array<Sent> = []
    const valid = Effect.map(statusOf, (status) => Calls.members(tools, { status }))
    // Each form of JSON writes names that it may spoil.
    for (const form of Object.values(Bodies.forms)) {
      for (const content of ["", '\u00e9"\\', "\u{1f98a}"]) {
        const name = JSON.stringify(tools.name(content))
        sent.push(Bodies.creation(Calls.members(tools, { name, status: yield* statusOf }), form))
      }
    }
    for (const form of Object.values(Bodies.unusualForms)) sent.push(Bodies.creation(yield* valid, form))
    for (const types of Bodies.contentTypes) sent.push(Bodies.creation(yield* valid, Bodies.plain, types))
    for (const added of Object.values(Bodies.additions)) {
      // A member that is taken for the status shows if none was sent.
      const own = added.some(([name]) => /^status$/i.test(name)) ? Calls.members(tools) : yield* valid
      sent.push(Bodies.creation([...own, ...added]))
    }
    for (const rename of Object.values(Bodies.otherCases)) {
      for (const field of ["name", "categoryId", "status"]) {
        sent.push(
          Bodies.creation((yield* valid).map(([name, json]) => [name === field ? rename(name) : name, json]))
        )
      }
    }
    yield* Calls.createAll(tools, yield* Random.shuffle(sent), 50)
  })
}

/** Draws one unusual name for each kind, and creates animals that are plain in everything else. */
const names: Program = {
  name: "names",
  profile: "core",
  requests: 230,
  run: Effect.fnUntraced(function* (tools) {
    const statusOf = yield* Draw.swarm(Queries.statuses)
    const all: Array<string> = [...Names.whole]
    const isBlank = (content: string) => content.trim() === ""
    for (const content of Object.values(Names.contents)) {
      const places = Object.values(Names.positions)
      for (const place of isBlank(content) ? places : [yield* Draw.one(places)])
        all.push(place(tools.name(), content))
    }
    const lengths = yield* Draw.pairs({ length: Names.lengths, character: Names.characters })
    const countOf = yield* Draw.swarm(Object.values(Names.units))
    for (const { character, length } of yield* Effect.map(Random.shuffle(lengths), (rows) =>
      rows.slice(0, 30)
    ))
      all.push(Names.ofLength(tools.name(), character, length, yield* countOf))
    const sent = yield* Effect.forEach(all, (name) =>
      Effect.map(statusOf, (status) =>
        Bodies.creation(Calls.members(tools, { name: JSON.stringify(name), status }))
      )
    )
    yield* Calls.createAll(tools, yield* Random.shuffle(sent))
  })
}

const categories: Program = {
  name: "categories",
  profile: "core",
  needs: ["anyCategory"],
  requests: 60,
  run: Effect.fnUntraced(function* (tools) {
    const rows = yield* Draw.pairs({ categoryId: Bodies.categories, status: [undefined, "sold"] })
    yield* Calls.createAll(
      tools,
      rows.map(({ categoryId, status }) =>
        Bodies.creation(Calls.members(tools, { categoryId, ...(status === undefined ? {} : { status }) }))
      )
    )
  })
}

/** Creates the same animal several times: the contract does not say whether names are unique. */
const twins: Program = {
  name: "twins",
  profile: "core",
  requests: 10,
  run: Effect.fnUntraced(function* (tools) {
    const sent = yield* Calls.creation(tools)
    yield* Calls.createAll(tools, [sent, sent, sent])
  })
}

export const programs: ReadonlyArray<Program> = [growing, defects, forms, names, categories, twins]
