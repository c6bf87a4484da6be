/** Spends requests just before and just after the moments at which windows begin, and software often fails. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Exchange } from "../../model/Exchange.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import { type Program, program } from "../Program.ts"
import * as Queries from "../Queries.ts"
import { boundaries, DAY, MINUTE, midnight, SECOND, zones } from "./Moments.ts"
import * as Spending from "./Spending.ts"

/** Moments that a response of the small key announces, or that follow its first request. */
const byResponse: ReadonlyArray<(exchange: Exchange) => number | undefined> = [
  ({ from }) => from + MINUTE,
  ({ response }) => {
    const rate = response && RateHeaders.of(response)
    return rate && rate.resetAt * SECOND
  },
  (exchange) => {
    const wait = Spending.toldWait(exchange)
    return wait === undefined ? undefined : exchange.to + wait
  }
]

/** Times before a boundary in milliseconds. */
const margins = [1, 300, 500, 900, SECOND, 30 * SECOND] as const

export const programs: ReadonlyArray<Program> = [
  program(
    "boundaries of the clock",
    { profile: "limits", needs: ["clock"], requests: 200 },
    function* (tools) {
      const tiny = yield* Effect.option(Spending.small(tools, { key: "tiny" }))
      for (const next of [...Object.values(boundaries), midnight(yield* Draw.one(zones))]) {
        yield* Spending.rest(tools)
        const boundary = next(yield* tools.now)
        const margin = yield* Draw.one(margins)
        // How much of its minute the small key uses before the boundary.
        const share = yield* Draw.one([0, 0.5, 3])
        const operations = yield* Random.shuffle(Calls.operations)
        for (const at of [boundary - margin, boundary]) {
          yield* Spending.until(tools, at)
          const others = yield* Draw.some(Calls.all, 2)
          for (const call of [...operations.slice(at === boundary ? 0 : 4), ...others])
            yield* Calls.send(tools, call)
          yield* Calls.createUnusual(tools, yield* Draw.one(Queries.statuses))
          for (const call of others)
            yield* tools.send({
              ...(yield* call(tools)),
              authorization: at === boundary ? [] : ["Bearer no-such-key"]
            })
          if (Option.isNone(tiny) || (share === 0 && at < boundary)) continue
          const { plan, recover, useUp } = tiny.value
          const max = at === boundary ? undefined : Math.ceil(plan.perMinute * share)
          yield* recover(yield* useUp(yield* Random.shuffle(Calls.described), max))
        }
      }
      yield* Spending.rest(tools)
    }
  ),
  Spending.about(
    "boundaries of windows",
    { key: "tiny", profile: "limits", requests: 60 },
    function* (tools, tiny) {
      for (const moment of byResponse)
        for (const isUsedUp of [false, true]) {
          yield* Spending.rest(tools)
          yield* tools.advance(yield* Random.nextIntBetween(0, MINUTE))
          const first = yield* tiny.spend()
          yield* tools.advance(yield* Random.nextIntBetween(0, 20 * SECOND))
          const calls = yield* Random.shuffle(Calls.described)
          const last = yield* tiny.useUp(calls, isUsedUp ? undefined : Math.max(1, tiny.plan.perMinute - 2))
          const boundary = moment(isUsedUp ? last : first)
          if (boundary === undefined || boundary - (yield* tools.now) > DAY) continue
          // Who was denied does not come early.
          if (!Spending.isDenied(last)) {
            yield* Spending.until(tools, boundary - (yield* Draw.one(margins)))
            yield* tiny.spend()
          }
          yield* Spending.until(tools, boundary)
          yield* tiny.recover(yield* tiny.useUp(yield* Random.shuffle(Calls.described)), Calls.operations)
        }
    }
  )
]
