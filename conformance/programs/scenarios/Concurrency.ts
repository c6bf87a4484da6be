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

const fields = { key: "tiny", profile: "concurrency" } as const

export const programs: ReadonlyArray<Program> = [
  program("catalogue at the same time", { profile: "concurrency", requests: 95 }, function* (tools) {
    for (const writers of [12, 1, 6, 0]) {
      const mixed = [
        ...(yield* repeat(tools, writers, creations)),
        ...(yield* repeat(tools, 12 - writers, reads))
      ]
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
    { ...fields, isTimeless: true, maxPerMinute: Spending.MAX_ONCE, requests: 30, waitsMs: 61_000 },
    function* (tools, tiny) {
      for (const [round, calls] of [Calls.described, [Calls.calls.list], Calls.all].entries()) {
        if (round > 0 && !tools.hasClock) return
        yield* Spending.rest(tools)
        // The last requests of a minute: first all of them, then those that a beginning left.
        for (let sent = 0; sent < round; sent++) yield* tiny.spend()
        const together = yield* repeat(tools, tiny.plan.perMinute + 3, yield* Random.shuffle(calls))
        const exchanges = yield* tools.sendTogether(together.map((sent): Sent => ({ ...sent, key: "tiny" })))
        const denied = exchanges.find(Spending.isDenied)
        if (denied !== undefined && tools.hasClock) yield* tiny.recover(denied)
      }
    }
  ),
  Spending.about("several keys at the same time", { ...fields, requests: 25 }, function* (tools) {
    for (let round = 0; round < 2; round++) {
      const mixed = yield* repeat(tools, 12, yield* Random.shuffle(Calls.operations))
      const senders = [{}, { key: "tiny" }, {}, { authorization: [] }] as const
      yield* tools.sendTogether(mixed.map((sent, index): Sent => ({ ...sent, ...senders[index % 4] })))
      yield* Spending.rest(tools)
    }
  })
]
