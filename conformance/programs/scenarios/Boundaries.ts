/** Spends requests just before and just after the moments at which windows begin, and software often fails. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Exchange } from "../../model/Exchange.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import { zones } from "./Day.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { DAY, MINUTE, SECOND } = Spending

const next = (unit: number) => (now: number) => (Math.floor(now / unit) + 1) * unit

const midnightOf = (zone: number) => (now: number) => next(DAY)(now + zone * MINUTE) - zone * MINUTE

/** The last Sunday of March or October at 01:00 UTC, when clocks change in Europe. */
const clockChange = (now: number): number => {
  const year = new Date(now).getUTCFullYear()
  return (
    [2, 9, 14]
      .map((month) => Date.UTC(year, month + 1, 0, 1))
      .map((last) => last - new Date(last).getUTCDay() * DAY)
      .find((change) => change > now) ?? now
  )
}

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
const margins = [1, 500, 900, SECOND, 30 * SECOND] as const

const boundariesOfClock = Effect.fnUntraced(function* (tools: Tools): Effect.fn.Return<void, Stopped> {
  const { tiny } = tools.plans
  const midnights = [0, ...(yield* Ways.draw(zones.slice(1), 1))].map(midnightOf)
  for (const moment of [next(SECOND), next(MINUTE), ...midnights, clockChange]) {
    yield* Spending.rest(tools)
    const boundary = moment(yield* tools.now)
    const [margin = 1] = yield* Ways.draw(margins, 1)
    const isUsedUp = yield* Random.nextBoolean
    for (const at of [boundary - margin, boundary]) {
      yield* Spending.until(tools, at)
      const others = yield* Ways.draw(Ways.ways, 2)
      for (const way of [...(at === boundary ? Ways.operations : []), ...others])
        yield* tools.send(way.sent(tools))
      for (const way of others)
        yield* tools.send({
          ...way.sent(tools),
          authorization: at === boundary ? [] : ["Bearer no-such-key"]
        })
      if (tiny === undefined || tiny.perMinute > Spending.MAX_PER_MINUTE) continue
      const max = at === boundary || isUsedUp ? Spending.burst(tiny) : Math.ceil(tiny.perMinute / 2)
      const last = yield* Spending.useUp(tools, "tiny", yield* Random.shuffle(Ways.described), max)
      yield* Spending.recover(tools, "tiny", last)
    }
  }
  yield* Spending.rest(tools)
})

export const programs: ReadonlyArray<Program> = [
  {
    name: "boundaries of the clock",
    profile: "limits",
    needs: ["clock"],
    requests: 115,
    run: boundariesOfClock
  },
  Spending.about(
    { key: "tiny", name: "boundaries of windows", profile: "limits", requests: 60 },
    Effect.fnUntraced(function* (tools, plan) {
      for (const moment of byResponse)
        for (const isUsedUp of [false, true]) {
          yield* Spending.rest(tools)
          yield* tools.advance(yield* Random.nextIntBetween(0, MINUTE))
          const first = yield* Spending.spend(tools, "tiny")
          const max = isUsedUp ? Spending.burst(plan) : Math.max(1, plan.perMinute - 2)
          yield* tools.advance(yield* Random.nextIntBetween(0, 20 * SECOND))
          const last = yield* Spending.useUp(tools, "tiny", yield* Random.shuffle(Ways.described), max)
          const boundary = moment(isUsedUp ? last : first)
          if (boundary === undefined || boundary - (yield* tools.now) > DAY) continue
          const [margin = 1] = yield* Ways.draw(margins, 1)
          // Who was denied does not come early.
          if (!Spending.isDenied(last)) {
            yield* Spending.until(tools, boundary - margin)
            yield* Spending.spend(tools, "tiny")
          }
          yield* Spending.until(tools, boundary)
          const denied = yield* Spending.useUp(
            tools,
            "tiny",
            yield* Random.shuffle(Ways.described),
            Spending.burst(plan)
          )
          yield* Spending.recover(tools, "tiny", denied, Ways.operations)
        }
    })
  )
]
