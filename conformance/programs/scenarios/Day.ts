/** Uses up days of the small key, by mixtures of requests and by single kinds, and looks when the day is over. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import { DAY, HOUR, MINUTE, midnight, SECOND, zones } from "./Moments.ts"
import * as Spending from "./Spending.ts"

const { MINUTE_PASSED } = Spending

const fields = { key: "tiny", profile: "limits", maxPerDay: Spending.MAX_PER_DAY } as const

/** Uses up the minute, and then what it and the day still allow, without an early retry, until a moment. */
const spendUntil = Effect.fnUntraced(function* (
  tools: Tools,
  { plan, spend, useUp }: Spending.Small,
  moment: number
): Effect.fn.Return<void, Stopped> {
  let last = yield* useUp([Calls.calls.list])
  for (let sent = 0; sent < plan.perMinute + 3; sent++) {
    const wait = Spending.isDenied(last) ? Spending.toldWait(last) : SECOND
    if (wait === undefined || (yield* tools.now) + wait >= moment) return
    yield* tools.advance(wait)
    if (sent % 2 === 0) yield* tools.send(Spending.look)
    last = yield* spend(yield* Draw.one(Calls.described))
  }
})

export const programs: ReadonlyArray<Program> = [
  Spending.about("day by each way", { ...fields, requests: 130 }, function* (tools, { recover, useUpDay }) {
    const refused = yield* Draw.some(Calls.refused, 1)
    for (const calls of [yield* Random.shuffle(Calls.described), refused, yield* Random.shuffle(Calls.all)]) {
      const denied = yield* useUpDay(calls)
      yield* tools.send(Spending.look)
      yield* recover(denied, yield* Random.shuffle(Calls.operations))
      yield* Spending.rest(tools)
    }
  }),
  Spending.about(
    "each way on a used day",
    { ...fields, requests: 95 },
    function* (tools, { recover, spend, useUpDay }) {
      let denied = yield* useUpDay()
      // So rarely that the minute denies nothing, and few services ban the key; at all parts of a second.
      for (const [index, call] of (yield* Random.shuffle(Calls.all)).entries()) {
        yield* tools.advance(MINUTE_PASSED + (index % 4) * 250)
        if (index % 2 === 0) yield* tools.send(Spending.look)
        denied = yield* spend(call)
      }
      yield* recover(denied)
    }
  ),
  Spending.about(
    "day again and again",
    { ...fields, requests: 125 },
    function* (tools, { recover, useUpDay }) {
      // Half a day later, no day may have begun twice; a day after the latest request, every one has begun.
      for (const wait of [12 * HOUR, 12 * HOUR, DAY + SECOND]) {
        yield* useUpDay()
        yield* tools.advance(wait)
      }
      yield* recover(yield* useUpDay(), Calls.operations)
    }
  ),
  Spending.about("day at midnight", { ...fields, requests: 100 }, function* (tools, given) {
    const { perDay, perMinute } = given.plan
    for (const [zone, spare] of [
      [0, perMinute + 3],
      [yield* Draw.one(zones), perDay / 2]
    ] as const) {
      const end = midnight(zone)((yield* tools.now) + 2 * HOUR)
      yield* Spending.until(tools, end - HOUR)
      yield* given.useUpDay(undefined, Math.max(1, Math.floor(perDay - spare)))
      yield* Spending.until(tools, end - MINUTE + SECOND)
      yield* spendUntil(tools, given, end)
      for (const moment of [end - 1, end, end + SECOND]) {
        yield* Spending.until(tools, moment)
        yield* tools.send(Spending.look)
        yield* given.spend(yield* Draw.one(Calls.described))
      }
      yield* tools.advance(MINUTE_PASSED)
      yield* given.useUpDay(undefined, perMinute + 1)
      yield* Spending.rest(tools)
    }
  })
]
