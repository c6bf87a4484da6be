/** Uses up days of the small key, by mixtures of requests and by single kinds, and looks when the day is over. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Plan } from "../../../core/limits/Plan.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { DAY, HOUR, MINUTE, MINUTE_PASSED, SECOND } = Spending

const onUnusedDay = (
  name: string,
  requests: number,
  run: (tools: Tools, plan: Plan) => Effect.Effect<void, Stopped>
): Program =>
  Spending.about({ key: "tiny", name, profile: "limits", requests, maxPerDay: Spending.MAX_PER_DAY }, run)

/** Uses up a day, looks at another key, and comes back as told. */
const byWays = Effect.fnUntraced(function* (
  tools: Tools,
  plan: Plan,
  ways: ReadonlyArray<Ways.Way>
): Effect.fn.Return<void, Stopped> {
  const denied = yield* Spending.useUpDay(tools, plan, ways)
  yield* tools.send(Spending.look("main"))
  yield* Spending.recover(tools, "tiny", denied, yield* Random.shuffle(Ways.operations))
})

/** Offsets of time zones from UTC in minutes, whose midnights may begin a day. */
export const zones = [0, 14 * 60, -12 * 60, 330, -8 * 60, 60, 345] as const

/** Returns the next midnight, in a time zone, that is at least two hours ahead. */
const midnightIn = (zone: number, now: number): number =>
  Math.ceil((now + 2 * HOUR + zone * MINUTE) / DAY) * DAY - zone * MINUTE

/** Uses up the minute, and then what it and the day still allow, without an early retry, until a moment. */
const spendUntil = Effect.fnUntraced(function* (
  tools: Tools,
  plan: Plan,
  moment: number
): Effect.fn.Return<void, Stopped> {
  let last = yield* Spending.useUp(tools, "tiny", [Ways.list], Spending.burst(plan))
  for (let sent = 0; sent < plan.perMinute + 3; sent++) {
    const wait = Spending.isDenied(last) ? Spending.toldWait(last) : SECOND
    if (wait === undefined || (yield* tools.now) + wait >= moment) return
    yield* tools.advance(wait)
    if (sent % 2 === 0) yield* tools.send(Spending.look("main"))
    last = yield* Spending.spend(tools, "tiny", (yield* Ways.draw(Ways.described, 1))[0])
  }
})

export const programs: ReadonlyArray<Program> = [
  onUnusedDay("day by described requests", 85, (tools, plan) =>
    Effect.gen(function* () {
      yield* byWays(tools, plan, yield* Random.shuffle(Ways.described))
      yield* Spending.rest(tools)
      yield* byWays(tools, plan, yield* Ways.draw(Ways.ofKinds("refused"), 1))
    })
  ),
  onUnusedDay("day by all requests", 45, (tools, plan) =>
    Effect.flatMap(Random.shuffle(Ways.ways), (mixed) => byWays(tools, plan, mixed))
  ),
  onUnusedDay(
    "each way on a used day",
    95,
    Effect.fnUntraced(function* (tools, plan) {
      let denied = yield* Spending.useUpDay(tools, plan, [Ways.list])
      // So rarely that the minute denies nothing, and few services ban the key; at all parts of a second.
      for (const [index, way] of (yield* Random.shuffle(Ways.ways)).entries()) {
        yield* tools.advance(MINUTE_PASSED + (index % 4) * 250)
        if (index % 2 === 0) yield* tools.send(Spending.look("main"))
        denied = yield* Spending.spend(tools, "tiny", way)
      }
      yield* Spending.recover(tools, "tiny", denied)
    })
  ),
  onUnusedDay(
    "day again and again",
    125,
    Effect.fnUntraced(function* (tools, plan) {
      // Half a day later, no day may have begun twice; a day after the latest request, every one has begun.
      for (const wait of [12 * HOUR, 12 * HOUR, DAY + SECOND]) {
        yield* Spending.useUpDay(tools, plan, [Ways.list])
        yield* tools.advance(wait)
      }
      const denied = yield* Spending.useUpDay(tools, plan, [Ways.list])
      yield* Spending.recover(tools, "tiny", denied, Ways.operations)
    })
  ),
  onUnusedDay(
    "day at midnight",
    100,
    Effect.fnUntraced(function* (tools, plan) {
      const [other = 0] = yield* Ways.draw(zones.slice(1), 1)
      for (const [zone, spare] of [
        [0, plan.perMinute + 3],
        [other, plan.perDay / 2]
      ] as const) {
        const midnight = midnightIn(zone, yield* tools.now)
        yield* Spending.until(tools, midnight - HOUR)
        yield* Spending.useUpDay(tools, plan, [Ways.list], Math.max(1, Math.floor(plan.perDay - spare)))
        yield* Spending.until(tools, midnight - MINUTE + SECOND)
        yield* spendUntil(tools, plan, midnight)
        for (const moment of [midnight - 1, midnight, midnight + SECOND]) {
          yield* Spending.until(tools, moment)
          yield* tools.send(Spending.look("main"))
          yield* Spending.spend(tools, "tiny", (yield* Ways.draw(Ways.described, 1))[0])
        }
        yield* tools.advance(MINUTE_PASSED)
        yield* Spending.useUpDay(tools, plan, [Ways.list], plan.perMinute + 1)
        yield* Spending.rest(tools)
      }
    })
  )
]
