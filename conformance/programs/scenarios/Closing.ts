/** Looks again, at the end of a run, at what it created, also across the removal of getPet on 5 December 2030. */
import * as Random from "effect/Random"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../http/Removal.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import { type Program, program } from "../Program.ts"
import { DAY, HOUR, SECOND } from "./Moments.ts"
import * as Spending from "./Spending.ts"

/** Hours of the edges of the day in several zones, after its first beginning: the contract names no zone. */
const edges = [0, 5, 14, 22, 26, 38].map((hours) => REMOVAL_BEGINS + hours * HOUR)

const moments = [
  ...[REMOVAL_BEGINS - DAY, REMOVAL_BEGINS - HOUR, ...edges.flatMap((edge) => [edge - 1, edge])],
  ...[-1, 0, SECOND, DAY, 31 * DAY, 400 * DAY].map((after) => REMOVAL_OVER + after)
]

const { calls, operations } = Calls

/** What is affected by the removal, and what is not. */
const looks = [
  ...[...Object.values(Calls.retrievals), ...operations, calls["a negative id"]],
  ...[calls["HEAD of an unknown id"], calls["list by status"], calls["creation without a name"]]
]

export const programs: ReadonlyArray<Program> = [
  program("all animals again", { profile: "core", requests: 40 }, function* (tools) {
    yield* Calls.send(tools, calls.creation)
    const all = tools.created()
    // The first ones and the last ones are the most likely to be lost.
    const sample = new Set([...all.slice(0, 8), ...(yield* Draw.some(all, 8)), ...all.slice(-8)])
    for (const { id } of yield* Random.shuffle(sample)) yield* tools.send({ path: `/pets/${id}` })
    for (const key of ["main", "tiny", "victim"] as const) {
      if (tools.keys[key] === undefined || (key !== "main" && !tools.hasClock)) continue
      yield* Calls.lookAtLists(tools, key)
      for (const { id } of all.slice(-1)) yield* tools.send({ path: `/pets/${id}`, key })
      if (key !== "main") yield* tools.advance(2 * Spending.MINUTE_PASSED)
    }
  }),
  program(
    "the removal of getPet",
    { profile: "deprecation", needs: ["clock"], requests: 108 },
    function* (tools) {
      for (const moment of moments) {
        if ((yield* tools.now) > moment) continue
        yield* Spending.until(tools, moment)
        // A clock over a connection moves on, so that its last certain moment is an hour before.
        const isCertain = [REMOVAL_BEGINS - HOUR, REMOVAL_OVER + SECOND, moments.at(-1)].includes(moment)
        const some = [calls["the newest"], ...(yield* Draw.some(looks, 2))]
        for (const call of isCertain ? yield* Random.shuffle(looks) : some) yield* Calls.send(tools, call)
      }
      for (const call of looks) {
        if (tools.keys.tiny === undefined) break
        yield* tools.advance(Spending.MINUTE_PASSED)
        yield* tools.send({ ...(yield* call(tools)), key: "tiny" })
      }
      yield* Calls.lookAtLists(tools)
      yield* Spending.rest(tools)
    }
  )
]
