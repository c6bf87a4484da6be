/** Sends requests at the same time: operations of the catalogue, and the last requests of a limit. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Calls from "../Calls.ts"
import { type Program, program, type Sent, type Tools } from "../Program.ts"
import * as Queries from "../Queries.ts"
import * as Spending from "./Spending.ts"

const creations = Object.values<Calls.Call>(Calls.creations)
const reads = Object.values<Calls.Call>({ ...Calls.lists, ...Calls.retrievals })

/** Makes `count` requests of these calls in turn. */
const repeat = (tools: Tools, count: number, calls: ReadonlyArray<Calls.Call>) =>
  Effect.forEach(Array.from({ length: count }).keys(), (index) =>
    (calls[index % calls.length] ?? Calls.calls.list)(tools)
  )

export const programs: ReadonlyArray<Program> = [
  program("catalogue at the same time", { profile: "concurrency", requests: 88 }, function* (tools) {
    for (const [writers, readers] of [
      [12, 0],
      [1, 6],
      [6, 6],
      [0, 10]
    ] as const) {
      const mixed = [...(yield* repeat(tools, writers, creations)), ...(yield* repeat(tools, readers, reads))]
      const before = tools.created().length
      yield* tools.sendTogether(yield* Random.shuffle(mixed))
      const fresh = tools.created().slice(before)
      yield* tools.sendTogether(fresh.map(({ id }): Sent => ({ path: `/pets/${id}` })))
      yield* Calls.lookAtLists(tools)
    }
    // Whoever has got the response to a creation sees the animal, also by another connection.
    yield* Effect.forEach(
      yield* repeat(tools, 4, creations),
      Effect.fnUntraced(function* (sent) {
        const own = yield* Calls.createAndGet(tools, sent)
        yield* tools.send({ path: Queries.list("limit=100", `status=${own?.status ?? "sold"}`) })
      }),
      { concurrency: "unbounded" }
    )
  }),
  Spending.about(
    "limits at the same time",
    {
      ...{ key: "tiny", profile: "concurrency", isTimeless: true, maxPerMinute: Spending.MAX_ONCE },
      ...{ requests: 30, waitsMs: 61_000 }
    },
    function* (tools, { plan, recover, spend }) {
      for (const [round, calls] of [Calls.described, [Calls.calls.list], Calls.all].entries()) {
        if (round > 0 && !tools.hasClock) return
        yield* Spending.rest(tools)
        // The last requests of a minute: first all of them, then those that a beginning left.
        for (let sent = 0; sent < round; sent++) yield* spend()
        const together = yield* repeat(tools, plan.perMinute + 3, yield* Random.shuffle(calls))
        const exchanges = yield* tools.sendTogether(together.map((sent): Sent => ({ ...sent, key: "tiny" })))
        const denied = exchanges.find(Spending.isDenied)
        if (denied !== undefined && tools.hasClock) yield* recover(denied)
      }
    }
  ),
  Spending.about(
    "several keys at the same time",
    { key: "tiny", profile: "concurrency", requests: 25 },
    function* (tools) {
      for (let round = 0; round < 2; round++) {
        const mixed = yield* Random.shuffle([...Calls.operations, ...Calls.operations])
        const together = yield* repeat(tools, mixed.length, mixed)
        yield* tools.sendTogether(
          together.map((sent, index): Sent => {
            if (index % 4 === 1) return { ...sent, key: "tiny" }
            return index % 4 === 3 ? { ...sent, authorization: [] } : sent
          })
        )
        yield* Spending.rest(tools)
      }
    }
  )
]
