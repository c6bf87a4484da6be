/** Spends requests just before and just after the moments at which windows begin, and software often fails. */
import * as Random from "effect/Random"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Exchange } from "../../model/Exchange.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import type { Program } from "../Program.ts"
import { boundaries, DAY, MINUTE, margins, midnight, type Next, SECOND, zones } from "./Moments.ts"
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

export const programs: ReadonlyArray<Program> = [
  Spending.about(
    "boundaries of windows",
    { key: "tiny", profile: "limits", requests: 130 },
    function* (tools, tiny) {
      const { day, minute, month, second } = boundaries
      const byClock = [
        second,
        minute,
        day,
        midnight(yield* Draw.one(zones)),
        month,
        boundaries["change of clocks"]
      ]
      const cases: Array<readonly [moment: (typeof byResponse)[number], isUsedUp: boolean, begin?: Next]> = []
      for (const moment of byResponse) cases.push([moment, false], [moment, true])
      for (const next of byClock) cases.push([({ from }) => next(from), yield* Random.nextBoolean, next])
      for (const [moment, isUsedUp, begin] of cases) {
        yield* Spending.rest(tools)
        const now = yield* tools.now
        const early = begin === undefined ? now : begin(now + MINUTE) - MINUTE
        yield* Spending.until(tools, early + (yield* Random.nextIntBetween(0, MINUTE)))
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
