/** Moves time across the removal of getPet on 5 December 2030, which the contract dates in no time zone. */
import * as Random from "effect/Random"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../http/Removal.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import { program } from "../Program.ts"
import { DAY, HOUR } from "./Moments.ts"
import * as Spending from "./Spending.ts"

/** Hours of the edges of the day in several zones, after its first beginning. */
const edges = [0, 5, 14, 22, 26, 38].map((hours) => REMOVAL_BEGINS + hours * HOUR)

const moments = [
  REMOVAL_BEGINS - DAY,
  ...edges.flatMap((edge) => [edge - 1, edge]),
  REMOVAL_OVER - 1,
  REMOVAL_OVER,
  REMOVAL_OVER + 400 * DAY
]

/** What is affected by the removal, and what is not. */
const looks: ReadonlyArray<Calls.Call> = [
  ...Object.values(Calls.retrievals),
  ...[Calls.calls["an unknown id"], Calls.calls["another unknown id"], Calls.calls["HEAD of an unknown id"]],
  ...[Calls.calls["HEAD of an animal"], Calls.calls["HEAD of the list"]],
  ...[Calls.calls.list, Calls.calls["list by status"]],
  ...[Calls.calls.creation, Calls.calls["creation without a name"]]
]

export const removal = program(
  "the removal of getPet",
  { profile: "deprecation", needs: ["clock"], requests: 90 },
  function* (tools) {
    for (const moment of moments) {
      if ((yield* tools.now) > moment) continue
      yield* Spending.until(tools, moment)
      const isCertain = moment === REMOVAL_BEGINS - 1 || moment >= REMOVAL_OVER
      const some = [Calls.calls["the newest"], ...(yield* Draw.some(looks, 2))]
      const calls = isCertain ? yield* Random.shuffle(looks) : some
      for (const call of calls) yield* Calls.send(tools, call)
    }
    yield* Calls.lookAtLists(tools)
  }
)
