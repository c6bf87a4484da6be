/** Programs about lists and retrievals: every limit and status alone and together, and every spelling of an id. */
import * as Random from "effect/Random"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Paths from "./Paths.ts"
import { type Program, program } from "./Program.ts"
import * as Queries from "./Queries.ts"

export const programs: ReadonlyArray<Program> = [
  program("queries", { profile: "core", requests: 190 }, function* (tools) {
    // More animals than a list without a limit may show.
    for (const status of Queries.statuses) yield* Calls.stock(tools, 21, status)
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
    const heads = (yield* Draw.some(paths, 10)).map((path) => ({ method: "HEAD", path }))
    yield* Calls.sendAll(tools, yield* Random.shuffle([...paths.map((path) => ({ path })), ...heads]))
  }),
  program("retrievals", { profile: "core", requests: 72 }, function* (tools) {
    yield* Calls.stock(tools, 12)
    const ids = tools.created().map(({ id }) => id)
    const segments: Array<string> = [...Paths.otherIds, ...(yield* Draw.some(ids, 8)).map(String)]
    for (const spell of Paths.spellings) segments.push(spell(yield* Draw.one([...ids, 1n])))
    const paths = segments.map((segment) => `/pets/${segment}`)
    const heads = (yield* Draw.some(paths, 4)).map((path) => ({ method: "HEAD", path }))
    yield* Calls.sendAll(tools, yield* Random.shuffle([...paths.map((path) => ({ path })), ...heads]))
  })
]
