/** Looks again, at the end of a run, at the animals that it created, and sends the usual requests again. */
import * as Random from "effect/Random"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import * as Headers from "../Headers.ts"
import { program } from "../Program.ts"
import * as Spending from "./Spending.ts"

/** Number of animals that are fetched from each part of a run: its beginning, its middle and its end. */
const SAMPLE_SIZE = 8

export const animals = program("all animals again", { profile: "core", requests: 40 }, function* (tools) {
  yield* Calls.send(tools, Calls.calls.creation)
  const all = tools.created()
  const middle = yield* Draw.some(all.slice(SAMPLE_SIZE, -SAMPLE_SIZE), SAMPLE_SIZE)
  const sample = new Set([...all.slice(0, SAMPLE_SIZE), ...middle, ...all.slice(-SAMPLE_SIZE)])
  for (const { id } of yield* Random.shuffle(sample)) yield* tools.send({ path: `/pets/${id}` })
  for (const key of ["main", "tiny", "victim"] as const) {
    if (tools.keys[key] === undefined || (key !== "main" && !tools.hasClock)) continue
    yield* Calls.lookAtLists(tools, key)
    for (const { id } of all.slice(-1)) yield* tools.send({ path: `/pets/${id}`, key })
    if (key !== "main") yield* tools.advance(2 * Spending.MINUTE_PASSED)
  }
})

/** Sends each operation with each harmless header, after everything else has happened. */
export const afterwards = program("afterwards", { profile: "core", requests: 40 }, function* (tools) {
  const call = [...Calls.operations.slice(0, 5), Calls.calls["creation without a name"]]
  for (const row of yield* Draw.pairs({ call, headers: Headers.harmless })) {
    const { headers = [], ...sent } = yield* row.call(tools)
    yield* tools.send({ ...sent, headers: [...headers, ...row.headers] })
  }
  yield* Calls.lookAtLists(tools)
})
