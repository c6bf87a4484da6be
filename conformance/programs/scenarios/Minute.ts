/** Uses up minutes of the small key, by each operation and by each kind of refused request. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Program } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { MINUTE_PASSED } = Spending

export const programs: ReadonlyArray<Program> = [
  Spending.about(
    { key: "tiny", name: "minute by each way", profile: "limits", requests: 140 },
    Effect.fnUntraced(function* (tools, plan) {
      const inDay = Math.max(1, Math.floor(plan.perDay / (plan.perMinute + 2)))
      // Two of a kind take turns, since requests that the contract does not describe may be free.
      const described = yield* Random.shuffle(Ways.described)
      const mixed = [...described, ...(yield* Random.shuffle(Ways.ofKinds("undescribed")))]
      for (let index = 0; index < mixed.length; index += 2) {
        // Most minutes begin in the middle of a day, the others on an unused one.
        yield* (index / 2) % inDay === 0 ? Spending.rest(tools) : tools.advance(2 * MINUTE_PASSED)
        const two = mixed.slice(index, index + 2)
        const denied = yield* Spending.useUp(tools, "tiny", two, Spending.burst(plan))
        if (index % 4 === 0) yield* tools.send(Spending.look("main"))
        yield* Spending.recover(tools, "tiny", denied, yield* Random.shuffle(Ways.operations))
      }
    })
  ),
  Spending.about(
    {
      key: "tiny",
      name: "each way in a used minute",
      maxPerMinute: Spending.MAX_ONCE,
      profile: "limits",
      requests: 80
    },
    Effect.fnUntraced(function* (tools, plan) {
      const mixed = yield* Random.shuffle(Ways.ways)
      let denied = yield* Spending.useUp(tools, "tiny", Ways.described, Spending.burst(plan))
      for (const way of mixed) denied = yield* Spending.spend(tools, "tiny", way)
      yield* Spending.recover(tools, "tiny", denied)
      // Whether the denied requests counted shows at the end of the day.
      yield* tools.advance(2 * MINUTE_PASSED)
      if (Spending.hasSmallDay(plan)) yield* Spending.useUpDay(tools, plan, Ways.described)
      yield* Spending.rest(tools)
      // None of the denied creations left an animal.
      for (const status of ["available", "pending", "sold"])
        yield* tools.send({ path: `/pets?limit=100&status=${status}` })
    })
  ),
  {
    name: "minute in real time",
    profile: "limits",
    needs: ["tinyPlan"],
    requests: 12,
    waitsMs: 12_500,
    run: Effect.fnUntraced(function* (tools) {
      if (tools.hasClock) return
      const tiny = yield* Spending.requireSmall(tools, "tiny", Spending.MAX_ONCE)
      const mixed = yield* Random.shuffle([...Ways.operations, ...(yield* Ways.draw(Ways.ways, 2))])
      const denied = yield* Spending.useUp(tools, "tiny", mixed, Spending.burst(tiny))
      yield* tools.send(Spending.look("main"))
      if (!Spending.isDenied(denied)) return
      yield* tools.advance((Spending.toldWait(denied) ?? MINUTE_PASSED) + Spending.SECOND / 2)
      yield* Spending.spend(tools, "tiny", mixed[0])
    })
  }
]
