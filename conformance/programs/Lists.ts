/** Programs about lists and retrievals: every limit and status alone and together, and every spelling of an id. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Paths from "./Paths.ts"
import type { Program } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** More animals than a list may show, and than one without a limit may show. */
const [MANY, SOME] = [101, 21]

const queries: Program = {
  name: "queries",
  profile: "core",
  requests: 235,
  run: Effect.fnUntraced(function* (tools) {
    const common = yield* Draw.one(Queries.statuses)
    for (const status of Queries.statuses) yield* Calls.stock(tools, status === common ? MANY : SOME, status)
    const dress = yield* Calls.dresser
    const statusOf = yield* Draw.swarm([common, common, ...Queries.statuses])
    const limitOf = yield* Draw.swarm(Queries.limits)
    const paths: Array<string> = []
    const add = (...parameters: ReadonlyArray<string>) =>
      Effect.map(Random.shuffle(parameters), (shuffled) => paths.push(Queries.list(...shuffled)))
    yield* add()
    for (const limit of Queries.limits) {
      yield* add(`limit=${limit}`)
      for (const status of Queries.statuses) yield* add(`limit=${limit}`, `status=${status}`)
    }
    for (const status of Queries.statuses) yield* add(`status=${status}`)
    for (const limit of Queries.otherNumbers) {
      yield* add(`limit=${limit}`)
      yield* add(`limit=${limit}`, `status=${yield* statusOf}`)
    }
    for (const limit of Queries.unusualLimits)
      yield* add(`limit=${limit}`, ...(yield* Draw.one([[], [`status=${yield* statusOf}`]])))
    for (const status of Queries.unusualStatuses)
      yield* add(`status=${status}`, `limit=${yield* Draw.one(["100", yield* limitOf])}`)
    for (const parameter of Queries.others) {
      const others = [[], [`limit=${yield* limitOf}`], [`status=${yield* statusOf}`, "limit=50"]]
      yield* add(parameter, ...(yield* Draw.one(others)))
    }
    // A parameter may also change what another one means, by its place.
    for (const given of ["limit=2", `status=${yield* statusOf}`])
      paths.push(Queries.list(given, "zz=1"), Queries.list("zz=1", given))
    const shuffled = yield* Random.shuffle(paths)
    for (const path of shuffled) yield* tools.send(yield* dress({ path }))
    for (const path of shuffled.slice(0, 10)) yield* tools.send({ method: "HEAD", path })
  })
}

const retrievals: Program = {
  name: "retrievals",
  profile: "core",
  requests: 70,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 12)
    const dress = yield* Calls.dresser
    const ids = tools.created().map(({ id }) => id)
    const segments: Array<string> = [...Paths.otherIds]
    for (const spell of Object.values(Paths.spellings)) segments.push(spell(yield* Draw.one([...ids, 1n])))
    for (const id of yield* Draw.some(ids, 8)) segments.push(String(id))
    const shuffled = yield* Random.shuffle(segments)
    for (const segment of shuffled) yield* tools.send(yield* dress({ path: `/pets/${segment}` }))
    for (const segment of shuffled.slice(0, 4))
      yield* tools.send({ method: "HEAD", path: `/pets/${segment}` })
  })
}

export const programs: ReadonlyArray<Program> = [queries, retrievals]
