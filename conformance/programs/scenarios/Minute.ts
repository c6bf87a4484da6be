/** Uses up minutes of the small key, by each operation and by each kind of refused request. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Program } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { MINUTE_PASSED } = Spending

export const programs: ReadonlyArray<Program> = [
  {
    name: "minute by each way",
    profile: "limits",
    needs: ["tinyPlan", "clock"],
    requests: 270,
    run: Effect.fnUntraced(function* (tools) {
      const plan = Spending.planOf(tools, "tiny", 10)
      if (plan === undefined) return
      const spare = Math.max(1, Math.floor(plan.perDay / (plan.perMinute + 2)))
      for (const [index, way] of (yield* Random.shuffle(Ways.ways)).entries()) {
        // Most minutes begin in the middle of a day, the others on an unused one.
        yield* index % spare === 0 ? Spending.rest(tools) : tools.advance(2 * MINUTE_PASSED)
        const denied = yield* Spending.useUp(tools, "tiny", [way], Spending.burst(plan))
        if (index % 4 === 0) yield* tools.send(way.sent(tools))
        yield* Spending.recover(tools, "tiny", denied, yield* Random.shuffle(Ways.operations), 2)
      }
    })
  },
  {
    name: "each way while denied",
    profile: "limits",
    needs: ["tinyPlan", "clock"],
    requests: 60,
    run: Effect.fnUntraced(function* (tools) {
      const plan = Spending.planOf(tools, "tiny")
      if (plan === undefined) return
      yield* Spending.rest(tools)
      const mixed = yield* Random.shuffle(Ways.ways)
      let denied = yield* Spending.useUp(tools, "tiny", mixed, Spending.burst(plan))
      for (const way of [...mixed].reverse()) denied = yield* Spending.spend(tools, "tiny", way)
      yield* Spending.recover(tools, "tiny", denied)
      // Whether the denied requests counted shows at the end of the day.
      yield* tools.advance(2 * MINUTE_PASSED)
      if (plan.perDay <= Spending.MAX_PER_DAY) yield* Spending.useUpDay(tools, plan, Ways.operations)
      yield* Spending.rest(tools)
      for (const key of ["tiny", "main"] as const)
        for (const status of ["available", "sold"])
          yield* tools.send({ path: `/pets?limit=100&status=${status}`, key })
    })
  },
  {
    name: "minute in real time",
    profile: "limits",
    needs: ["tinyPlan"],
    requests: 20,
    run: Effect.fnUntraced(function* (tools) {
      const plan = Spending.planOf(tools, "tiny", 20)
      if (plan === undefined || tools.hasClock) return
      const mixed = yield* Random.shuffle([...Ways.operations, ...(yield* Ways.draw(Ways.ways, 2))])
      const denied = yield* Spending.useUp(tools, "tiny", mixed, Spending.burst(plan))
      yield* tools.send({ path: "/pets?limit=1" })
      if (!Spending.isDenied(denied)) return
      yield* Spending.waitAsTold(tools, denied)
      yield* Spending.spend(tools, "tiny", mixed[0] ?? Ways.list)
    })
  }
]
