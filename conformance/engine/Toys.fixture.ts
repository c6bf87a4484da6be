/** Creates toy checks and subjects for tests of the engine. */
import * as Effect from "effect/Effect"
import { type Check, type Definition, define } from "../checks/Check.ts"
import type { Catalogue } from "../evaluation/Catalogue.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Investigate from "./Investigate.ts"

/** Dies: the implementation of methods that no toy check calls. */
export const unexpectedCall = Effect.die(new Error("toy laws do not call the catalogue"))

const catalogue: Catalogue = {
  isShared: false,
  categoryOf: (wanted) => wanted,
  create: () => unexpectedCall,
  list: () => unexpectedCall,
  get: () => unexpectedCall
}

/** Creates a subject with a catalogue that no toy law uses. */
export const subject = (options: Partial<Subject> = {}): Subject => ({
  name: "a toy",
  kind: "port",
  interfaces: { catalogue: () => Effect.succeed(catalogue) },
  capabilities: new Set(),
  exchanges: [],
  ...options
})

/** Creates a check with the given law. */
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

/** Investigates a check like a run, with the tokens 0, 1, 2, … */
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
