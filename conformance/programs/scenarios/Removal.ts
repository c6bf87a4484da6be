/** Moves time across the removal of getPet on 5 December 2030, which the contract dates in no time zone. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../http/Removal.ts"
import type { Program } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { DAY, HOUR } = Spending

/** Hours of the edges of the day in several zones, after its first beginning. */
const edges = [0, 5, 14, 22, 26, 38].map((hours) => REMOVAL_BEGINS + hours * HOUR)

const moments: ReadonlyArray<number> = [
  REMOVAL_BEGINS - DAY,
  ...edges.flatMap((edge) => [edge - 1, edge]),
  REMOVAL_OVER - 1,
  REMOVAL_OVER,
  REMOVAL_OVER + 400 * DAY
]

/** What is affected by the removal, and what is not. */
const looks = Ways.ways.filter(({ name }) =>
  /^(?:retrieval|HEAD|list$|list by|creation$|creation without a name)/.test(name)
)

export const programs: ReadonlyArray<Program> = [
  {
    name: "the removal of getPet",
    profile: "deprecation",
    needs: ["clock"],
    requests: 90,
    run: Effect.fnUntraced(function* (tools) {
      for (const moment of moments) {
        if ((yield* tools.now) > moment) continue
        yield* Spending.until(tools, moment)
        const isCertain = moment === REMOVAL_BEGINS - 1 || moment >= REMOVAL_OVER
        const some = [Ways.retrieval, ...(yield* Ways.draw(looks, 2))]
        const ways = isCertain ? yield* Random.shuffle(looks) : some
        for (const way of ways) yield* tools.send(way.sent(tools))
      }
      // The limits are still the same.
      const { tiny } = tools.plans
      if (tiny === undefined || tiny.perMinute > Spending.MAX_PER_MINUTE) return
      const denied = yield* Spending.useUp(tools, "tiny", Ways.described, Spending.burst(tiny))
      yield* Spending.recover(tools, "tiny", denied)
      yield* Spending.rest(tools)
    })
  }
]
