/** Programs about lists and retrievals: every limit and status alone and together, and every spelling of an id. */
import * as Random from "effect/Random"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Paths from "./Paths.ts"
import { type Program, program } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** More animals than a list may show, and than one without a limit may show. */
const [MANY, SOME] = [101, 21]

export const programs: ReadonlyArray<Program> = [
  program("queries", { profile: "core", requests: 235 }, function* (tools) {
    const common = yield* Draw.one(Queries.statuses)
    for (const status of Queries.statuses) yield* Calls.stock(tools, status === common ? MANY : SOME, status)
    const filterOf = yield* Draw.swarm(
      [common, common, ...Queries.statuses].map((status) => `status=${status}`)
    )
    const limits = Queries.limits.map((limit) => `limit=${limit}`)
    const limitOf = yield* Draw.swarm(limits)
    const rows: Array<ReadonlyArray<string>> = []
    for (const limit of ["", ...limits, ...Queries.otherNumbers.map((number) => `limit=${number}`)])
      for (const filter of ["", yield* filterOf]) rows.push([limit, filter])
    for (const limit of Queries.unusualLimits)
      rows.push([`limit=${limit}`, yield* Draw.one(["", yield* filterOf])])
    for (const status of Queries.unusualStatuses)
      rows.push([`status=${status}`, yield* Draw.one(["limit=100", yield* limitOf])])
    for (const parameter of Queries.others) {
      const others = [[], [yield* limitOf], [yield* filterOf, "limit=50"]]
      rows.push([parameter, ...(yield* Draw.one(others))])
    }
    const paths: Array<string> = []
    for (const row of rows) paths.push(Queries.list(...(yield* Random.shuffle(row))))
    // A parameter may also change what another one means, by its place.
    for (const given of ["limit=2", yield* filterOf])
      paths.push(Queries.list(given, "zz=1"), Queries.list("zz=1", given))
    const shuffled = yield* Random.shuffle(paths)
    for (const path of shuffled) yield* tools.send({ path })
    for (const path of shuffled.slice(0, 10)) yield* tools.send({ method: "HEAD", path })
  }),
  program("retrievals", { profile: "core", requests: 70 }, function* (tools) {
    yield* Calls.stock(tools, 12)
    const ids = tools.created().map(({ id }) => id)
    const segments: Array<string> = [...Paths.otherIds]
    for (const spell of Paths.spellings) segments.push(spell(yield* Draw.one([...ids, 1n])))
    for (const id of yield* Draw.some(ids, 8)) segments.push(String(id))
    const shuffled = yield* Random.shuffle(segments)
    for (const segment of shuffled) yield* tools.send({ path: `/pets/${segment}` })
    for (const segment of shuffled.slice(0, 4))
      yield* tools.send({ method: "HEAD", path: `/pets/${segment}` })
  })
]
