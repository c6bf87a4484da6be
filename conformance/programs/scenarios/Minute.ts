/** Uses up minutes of the small key, by each operation and by each kind of refused request. */
import * as Random from "effect/Random"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import type { Program } from "../Program.ts"
import { SECOND } from "./Moments.ts"
import * as Spending from "./Spending.ts"

const { MINUTE_PASSED } = Spending

const fields = { key: "tiny", profile: "limits" } as const

export const programs: ReadonlyArray<Program> = [
  Spending.about(
    "minute by each way",
    { ...fields, requests: 140 },
    function* (tools, { plan, recover, useUp }) {
      const inDay = Math.max(1, Math.floor(plan.perDay / (plan.perMinute + 2)))
      // Two of a kind take turns, since requests that the contract does not describe may be free.
      const described = yield* Random.shuffle(Calls.described)
      const mixed = [...described, ...(yield* Random.shuffle(Object.values(Calls.others)))]
      for (let index = 0; index < mixed.length; index += 2) {
        // Most minutes begin in the middle of a day, the others on an unused one.
        yield* (index / 2) % inDay === 0 ? Spending.rest(tools) : tools.advance(2 * MINUTE_PASSED)
        const denied = yield* useUp(mixed.slice(index, index + 2))
        if (index % 4 === 0) yield* tools.send(Spending.look)
        yield* recover(denied, yield* Random.shuffle(Calls.operations))
      }
    }
  ),
  Spending.about(
    "each way in a used minute",
    { ...fields, maxPerMinute: Spending.MAX_ONCE, requests: 80 },
    function* (tools, { plan, recover, spend, useUp, useUpDay }) {
      let denied = yield* useUp(Calls.described)
      for (const call of yield* Random.shuffle(Calls.all)) denied = yield* spend(call)
      yield* recover(denied)
      // Whether the denied requests counted shows at the end of the day.
      yield* tools.advance(2 * MINUTE_PASSED)
      if (Spending.hasSmallDay(plan)) yield* useUpDay(Calls.described)
      yield* Spending.rest(tools)
      // None of the denied creations left an animal.
      yield* Calls.lookAtLists(tools)
    }
  ),
  Spending.about(
    "minute in real time",
    { ...fields, isTimeless: true, maxPerMinute: Spending.MAX_ONCE, requests: 12, waitsMs: 12_500 },
    function* (tools, { spend, useUp }) {
      if (tools.hasClock) return
      const mixed = yield* Random.shuffle([...Calls.operations, ...(yield* Draw.some(Calls.all, 2))])
      const denied = yield* useUp(mixed)
      yield* tools.send(Spending.look)
      if (!Spending.isDenied(denied)) return
      yield* tools.advance((Spending.toldWait(denied) ?? MINUTE_PASSED) + SECOND / 2)
      yield* spend(mixed[0])
    }
  )
]
