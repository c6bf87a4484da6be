/** Uses up days of the small key, by mixtures of requests and by single kinds, and looks when the day is over. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Plan } from "../../../core/limits/Plan.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { DAY, HOUR, MINUTE, MINUTE_PASSED, SECOND } = Spending

/** Defines a program that gets a small key with an unused day. */
const onUnusedDay = (
  name: string,
  requests: number,
  run: (tools: Tools, plan: Plan) => Effect.Effect<void, Stopped>
): Program => ({
  name,
  profile: "limits",
  needs: ["tinyPlan", "clock"],
  requests,
  run: Effect.fnUntraced(function* (tools) {
    const plan = Spending.planOf(tools, "tiny")
    if (plan === undefined || plan.perDay > Spending.MAX_PER_DAY) return
    yield* Spending.rest(tools)
    yield* run(tools, plan)
    yield* Spending.rest(tools)
  })
})

/** Uses up a day, looks at it in other ways, and comes back as told. */
const byWays = Effect.fnUntraced(function* (
  tools: Tools,
  plan: Plan,
  ways: ReadonlyArray<Ways.Way>
): Effect.fn.Return<void, Stopped> {
  const denied = yield* Spending.useUpDay(tools, plan, ways)
  yield* tools.send({ path: "/pets?limit=1" })
  yield* Spending.recover(tools, "tiny", denied, yield* Random.shuffle(Ways.operations), 2)
})

/** Offsets of time zones from UTC in minutes, whose midnights may begin a day. */
export const zones = [0, 14 * 60, -12 * 60, 330, -8 * 60, 60, 345] as const

/** Returns the next midnight, in a time zone, that is at least two hours ahead. */
const midnightIn = (zone: number, now: number): number =>
  Math.ceil((now + 2 * HOUR + zone * MINUTE) / DAY) * DAY - zone * MINUTE

export const programs: ReadonlyArray<Program> = [
  onUnusedDay("day by described requests", 45, (tools, plan) =>
    Effect.flatMap(Random.shuffle(Ways.ofKinds("usual", "refused")), (mixed) => byWays(tools, plan, mixed))
  ),
  onUnusedDay("day by all requests", 45, (tools, plan) =>
    Effect.flatMap(Random.shuffle(Ways.ways), (mixed) => byWays(tools, plan, mixed))
  ),
  onUnusedDay(
    "day by one way",
    90,
    Effect.fnUntraced(function* (tools, plan) {
      for (const kind of ["refused", "undescribed"] as const) {
        yield* byWays(tools, plan, yield* Ways.draw(Ways.ofKinds(kind), 1))
        yield* Spending.rest(tools)
      }
    })
  ),
  onUnusedDay(
    "day again and again",
    170,
    Effect.fnUntraced(function* (tools, plan) {
      // Half a day later, no day may have begun twice; a day after the latest request, every one has begun.
      for (const wait of [12 * HOUR, 12 * HOUR, DAY + SECOND]) {
        yield* Spending.useUpDay(tools, plan, [Ways.list])
        yield* tools.advance(wait)
      }
      const denied = yield* Spending.useUpDay(tools, plan, [Ways.list])
      yield* Spending.recover(tools, "tiny", denied, Ways.operations, 3)
    })
  ),
  onUnusedDay(
    "day at midnight",
    130,
    Effect.fnUntraced(function* (tools, plan) {
      const [other = 0] = yield* Ways.draw(zones.slice(1), 1)
      for (const zone of [0, other]) {
        const midnight = midnightIn(zone, yield* tools.now)
        yield* Spending.until(tools, midnight - HOUR)
        yield* Spending.useUpDay(tools, plan, [Ways.list], Math.ceil(plan.perDay / 2))
        yield* Spending.until(tools, midnight - 1)
        yield* Spending.spend(tools, "tiny", Ways.list)
        yield* tools.advance(1)
        yield* Spending.spend(tools, "tiny", Ways.list)
        yield* tools.advance(MINUTE_PASSED)
        yield* Spending.useUpDay(tools, plan, [Ways.list])
        yield* Spending.rest(tools)
      }
    })
  )
]
