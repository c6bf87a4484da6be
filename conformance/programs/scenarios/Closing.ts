/** Looks again, at the end of a run, at the animals that it created. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Program } from "../Program.ts"
import * as Ways from "./Ways.ts"

/** Number of animals that are fetched from each part of a run: its beginning, its middle and its end. */
const SAMPLE_SIZE = 8

export const programs: ReadonlyArray<Program> = [
  {
    name: "all animals again",
    profile: "core",
    requests: 40,
    run: Effect.fnUntraced(function* (tools) {
      yield* tools.send(Ways.ways.find(({ name }) => name === "creation")?.sent(tools) ?? { path: "/pets" })
      const all = tools.created()
      const middle = yield* Ways.draw(all.slice(SAMPLE_SIZE, -SAMPLE_SIZE), SAMPLE_SIZE)
      const sample = new Set([...all.slice(0, SAMPLE_SIZE), ...middle, ...all.slice(-SAMPLE_SIZE)])
      for (const { id } of yield* Random.shuffle(sample)) yield* tools.send({ path: `/pets/${id}` })
      for (const key of ["main", "tiny", "victim"] as const) {
        if (!tools.keys.has(key) || (key !== "main" && !tools.hasClock)) continue
        for (const query of ["", "&status=available", "&status=pending", "&status=sold"])
          yield* tools.send({ path: `/pets?limit=100${query}`, key })
        const [last] = all.slice(-1)
        if (last !== undefined) yield* tools.send({ path: `/pets/${last.id}`, key })
        if (key !== "main") yield* tools.advance(2 * 61_000)
      }
    })
  }
]
