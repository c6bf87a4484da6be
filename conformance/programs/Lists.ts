/** Programs about lists and retrievals: every limit and status alone and together, and every spelling of an id. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Paths from "./Paths.ts"
import type { Program } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** More animals than a list may show. */
const MANY = 102

const queries: Program = {
  name: "queries",
  profile: "core",
  requests: 420,
  run: Effect.fnUntraced(function* (tools) {
    const common = yield* Draw.one(Queries.statuses)
    for (const status of Queries.statuses) yield* Calls.stock(tools, status === common ? MANY : 22, status)
    const statusOf = yield* Draw.swarm([common, common, ...Queries.statuses])
    const limitOf = yield* Draw.swarm(Queries.limits)
    const paths: Array<string> = []
    for (const status of [undefined, ...Queries.statuses]) {
      if (status !== undefined) paths.push(Queries.list(`status=${status}`))
      for (const limit of Queries.limits) {
        const given = status === undefined ? [] : [`status=${status}`]
        paths.push(Queries.list(...(yield* Random.shuffle([`limit=${limit}`, ...given]))))
      }
    }
    for (const limit of Queries.unusualLimits) {
      const other = `status=${yield* statusOf}`
      paths.push(Queries.list(`limit=${limit}`))
      paths.push(Queries.list(...(yield* Random.shuffle([`limit=${limit}`, other]))))
    }
    for (const status of Queries.unusualStatuses) {
      const other = `limit=${yield* limitOf}`
      paths.push(Queries.list(`status=${status}`, "limit=100"))
      paths.push(Queries.list(...(yield* Random.shuffle([`status=${status}`, other]))))
    }
    for (const parameter of Queries.others) {
      const others = [[], [`limit=${yield* limitOf}`], [`status=${yield* statusOf}`]]
      paths.push(Queries.list(...(yield* Random.shuffle([parameter, ...(yield* Draw.one(others))]))))
    }
    for (const path of yield* Random.shuffle(paths)) yield* tools.send({ path })
    for (const path of (yield* Random.shuffle(paths)).slice(0, 12))
      yield* tools.send({ method: "HEAD", path })
  })
}

const retrievals: Program = {
  name: "retrievals",
  profile: "core",
  requests: 90,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 12)
    const segments: Array<string> = [...Paths.otherIds]
    for (const spell of Object.values(Paths.spellings)) {
      const { id } = yield* Draw.one(tools.created()).pipe(
        Effect.catchDefect(() => Effect.succeed({ id: 1n }))
      )
      segments.push(spell(id), String(id))
    }
    for (const segment of yield* Random.shuffle(segments)) yield* tools.send({ path: `/pets/${segment}` })
    for (const segment of (yield* Random.shuffle(segments)).slice(0, 8))
      yield* tools.send({ method: "HEAD", path: `/pets/${segment}` })
  })
}

export const programs: ReadonlyArray<Program> = [queries, retrievals]
