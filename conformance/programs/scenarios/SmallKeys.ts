/** Uses each small key for each operation: its first requests, and creations that are shown to the same key. */
import * as Effect from "effect/Effect"
import * as Bodies from "../Bodies.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import * as Queries from "../Queries.ts"
import { MINUTE } from "./Moments.ts"
import * as Spending from "./Spending.ts"

const ends = [" \n\u00e9<&", "\u{1f98a}".repeat(40), ""]

export const programs = (["tiny", "victim"] as const).map((key) =>
  Spending.about(
    `the ${key} key`,
    { key, profile: "limits", maxPerMinute: Number.POSITIVE_INFINITY, requests: 18 },
    function* (tools, { plan, spend }) {
      // So rarely that the minute denies nothing.
      const send = (call: Calls.Call) =>
        Effect.andThen(tools.advance(Math.ceil(MINUTE / plan.perMinute) + 100), spend(call))
      // What the first request of a key gets may differ, and is compared with what the second one gets.
      const first = yield* Draw.one(["list by status", "creation", "the first"] as const)
      const sent = yield* Calls.calls[first](tools)
      for (let times = 0; times < 2; times++) yield* send(() => Effect.succeed(sent))
      for (const [at, status] of Queries.statuses.entries()) {
        const categoryId = tools.categories === "any" ? yield* Draw.one(Bodies.categories) : undefined
        const unusual = { name: tools.name(ends[at]), categoryId, status }
        for (const sent of [
          Bodies.creation(Calls.members(tools, unusual)),
          Bodies.creation(Calls.members(tools, { status })),
          { path: Queries.list(`status=${status}`, "limit=100") },
          { path: Queries.list("limit=1", `status=${status}`) }
        ])
          yield* send(() => Effect.succeed(sent))
      }
      for (const call of [
        "the newest",
        "an unknown id",
        "HEAD of the list",
        "creation without a name"
      ] as const)
        yield* send(Calls.calls[call])
    }
  )
)
