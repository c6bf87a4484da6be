/** Lists all programs in run order. Those that use up limits, cause bans or move time far ahead come last. */
import * as Effect from "effect/Effect"
import type { Program } from "./Program.ts"
import { scenarios } from "./scenarios/Scenarios.ts"

const greeting: Program = {
  name: "greeting",
  profile: "core",
  requests: 3,
  run: Effect.fnUntraced(function* ({ name, send }) {
    yield* send({ method: "POST", path: "/pets", json: JSON.stringify({ name: name(), categoryId: 1 }) })
    yield* send({ path: "/pets" })
    yield* send({ path: "/pets", authorization: [] })
  })
}

export const programs: ReadonlyArray<Program> = [greeting, ...scenarios]
