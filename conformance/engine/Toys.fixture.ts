/** Checks and subjects that prove nothing, for tests of what runs them. */
import * as Effect from "effect/Effect"
import { type Check, type Definition, define } from "../checks/Check.ts"
import type { Catalogue } from "../evaluation/Catalogue.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Investigate from "./Investigate.ts"

/** Nothing that a toy check may ask for. */
export const unasked = Effect.die(new Error("toy laws ask the catalogue nothing"))

const catalogue: Catalogue = {
  isShared: false,
  categoryOf: (wanted) => wanted,
  create: () => unasked,
  list: () => unasked,
  get: () => unasked
}

/** A subject with a catalogue that no toy law looks at. */
export const subject = (options: Partial<Subject> = {}): Subject => ({
  name: "a toy",
  kind: "port",
  faces: { catalogue: () => Effect.succeed(catalogue) },
  capabilities: new Set(),
  exchanges: [],
  ...options
})

/** A check with a law of one's own. */
export const check = <Case = undefined>(
  definition: Partial<Definition<"catalogue", Case>> & Pick<Definition<"catalogue", Case>, "holds">
): Check =>
  define<"catalogue", Case>({
    id: "toy.check",
    law: "the toy holds",
    clauses: ["list.array"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 0,
    examples: [],
    ...definition
  })

/** Investigates as a run does, with tokens 0, 1, 2, … */
export const investigate = (
  toy: Check,
  options: Partial<Investigate.Options> & { readonly on?: Subject } = {}
) => {
  let next = 0
  const { on = subject(), ...rest } = options
  return Effect.runPromise(
    Investigate.investigate(toy, on, {
      seed: 1,
      effort: undefined,
      timeLimitMs: 20_000,
      nextToken: () => String(next++),
      ...rest
    })
  )
}
