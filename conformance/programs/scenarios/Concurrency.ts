/** Sends requests at the same time: operations of the catalogue, and the last requests of a limit. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Program, Sent } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const repeat = <A>(times: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: times }, (_, index) => make(index))

const isCreation = ({ name }: Ways.Way): boolean => name.startsWith("creation")

const creations = Ways.ofKinds("usual").filter(isCreation)
const reads = Ways.ofKinds("usual").filter((way) => !isCreation(way))

const lists = ["available", "pending", "sold"].map((status) => ({ path: `/pets?limit=100&status=${status}` }))

export const programs: ReadonlyArray<Program> = [
  {
    name: "catalogue at the same time",
    profile: "concurrency",
    requests: 85,
    run: Effect.fnUntraced(function* (tools) {
      for (const [writers, readers] of [
        [12, 0],
        [1, 6],
        [6, 6],
        [0, 10]
      ] as const) {
        const mixed: ReadonlyArray<Ways.Way> = yield* Random.shuffle([
          ...repeat(writers, (index) => creations[index % creations.length] ?? Ways.list),
          ...repeat(readers, (index) => reads[index % reads.length] ?? Ways.list)
        ])
        const before = tools.created().length
        yield* tools.sendTogether(mixed.map((way) => way.sent(tools)))
        const fresh = tools.created().slice(before)
        yield* tools.sendTogether(fresh.map(({ id }): Sent => ({ path: `/pets/${id}` })))
        for (const list of lists) yield* tools.send(list)
      }
      // Whoever has got the response to a creation sees the animal, also by another connection.
      yield* Effect.forEach(
        repeat(4, (index) => creations[index % creations.length] ?? Ways.list),
        Effect.fnUntraced(function* (way) {
          const before = tools.created().length
          yield* tools.send(way.sent(tools))
          const own = tools.created()[before]
          if (own !== undefined) yield* tools.send({ path: `/pets/${own.id}` })
          yield* tools.send({ path: "/pets?limit=100&status=sold" })
        }),
        { concurrency: "unbounded" }
      )
    })
  },
  {
    name: "limits at the same time",
    profile: "concurrency",
    needs: ["tinyPlan"],
    requests: 30,
    waitsMs: 61_000,
    run: Effect.fnUntraced(function* (tools) {
      const tiny = yield* Spending.requireSmall(tools, "tiny", Spending.MAX_ONCE)
      for (const [round, ways] of [Ways.described, [Ways.list], Ways.ways].entries()) {
        if (round > 0 && !tools.hasClock) return
        yield* Spending.rest(tools)
        const mixed = yield* Random.shuffle(ways)
        // The last requests of a minute: first all of them, then those that a beginning left.
        for (let sent = 0; sent < round; sent++) yield* Spending.spend(tools, "tiny")
        const together = repeat(
          tiny.perMinute + 3,
          (index): Sent => ({
            ...(mixed[index % mixed.length] ?? Ways.list).sent(tools),
            key: "tiny"
          })
        )
        const denied = (yield* tools.sendTogether(together)).find(Spending.isDenied)
        if (denied !== undefined && tools.hasClock) yield* Spending.recover(tools, "tiny", denied)
      }
      yield* Spending.rest(tools)
    })
  },
  Spending.about(
    { key: "tiny", name: "several keys at the same time", profile: "concurrency", requests: 25 },
    Effect.fnUntraced(function* (tools) {
      for (let round = 0; round < 2; round++) {
        const mixed = yield* Random.shuffle([...Ways.operations, ...Ways.operations])
        const together = mixed.map((way, index): Sent => {
          const sent = way.sent(tools)
          if (index % 4 === 1) return { ...sent, key: "tiny" }
          return index % 4 === 3 ? { ...sent, authorization: [] } : sent
        })
        yield* tools.sendTogether(together)
        yield* Spending.rest(tools)
      }
    })
  )
]
