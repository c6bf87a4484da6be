/** The program that sends every pair of values of two dimensions of a request, in a small and in a large store. */
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import * as Names from "./Names.ts"
import * as Pairs from "./Pairs.ts"
import { type Program, program, type Sent } from "./Program.ts"
import * as Queries from "./Queries.ts"
import * as Requests from "./Requests.ts"
import { boundaries, margins } from "./scenarios/Moments.ts"
import * as Spending from "./scenarios/Spending.ts"

/** When requests are sent, in this order: in a small or a large store, before or at boundaries of the clock. */
const moments = [
  { animals: 0 },
  { animals: 0, next: boundaries.day, isBefore: true },
  { animals: 0, next: boundaries.day },
  { animals: 101, next: boundaries.month, isBefore: true },
  { animals: 101, next: boundaries.month }
]

const { calls } = Calls

/** Requests other than lists and creations. */
const others = [
  ...[calls["the newest"], calls["an unknown id"], calls["HEAD of an animal"]],
  ...[calls["HEAD of the list"], calls["OPTIONS of the list"]]
]

const { invalid, near } = Credentials

export const programs: ReadonlyArray<Program> = [
  program("situations", { profile: "core", requests: 300, anonymous: 90 }, function* (tools) {
    const rows = yield* Pairs.cover({
      moment: moments,
      limit: ["", "limit=100", "limit=1", "limit=101", "limit=0"],
      filter: [...Queries.filters, "status=lost"],
      form: Bodies.forms,
      name: ["", '\u00e9"\\', "\u{1f98a}", "<b>\n ", "Aa".repeat(100), yield* Draw.one(Names.contents)],
      categoryId: yield* Draw.some(Bodies.categories, 4),
      status: [...Queries.statuses, undefined],
      other: others,
      credential: [...invalid.slice(0, 2), ...near.slice(0, 2), yield* Draw.one(near)]
    })
    // Without a valid key, no other error of a request shows.
    const unusual = yield* Requests.all(tools)
    for (const moment of moments) {
      const { animals, isBefore = false, next } = moment
      yield* Calls.stock(tools, animals, "available")
      if (next !== undefined && tools.hasClock)
        yield* Spending.until(tools, next(yield* tools.now) - (isBefore ? yield* Draw.one(margins) : 0))
      for (const [index, row] of rows.filter((each) => each.moment === moment).entries()) {
        const values = { ...row, name: tools.name(row.name) }
        const list: Sent = { path: Queries.list(row.limit, row.filter) }
        const creation = Bodies.creation(Calls.members(tools, values), row.form)
        const sent = [creation, list, yield* row.other(tools)]
        const credential = row.credential(tools.keys.main)
        const rejected = [yield* Draw.one(unusual), index % 2 === 0 ? list : creation]
        for (const each of [...sent, ...rejected.map((one) => Credentials.withCredential(one, credential))])
          yield* tools.send(each)
      }
      for (const call of next === boundaries.month ? Calls.refused : []) yield* Calls.send(tools, call)
      yield* Calls.lookAtLists(tools)
    }
  })
]
