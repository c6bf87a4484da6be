/** Lists of animals, through a port or over HTTP (contract §4.1). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { expect } from "../../engine/Outcome.ts"
import { type Check, define } from "../Check.ts"

export const checks: ReadonlyArray<Check> = [
  define({
    id: "list.filter",
    law: "A list with a status holds animals of that status only.",
    clauses: ["list.status.filter"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 40,
    mustSee: ["an animal that the filter leaves out"],
    examples: PetStatus.all.map((status) => ({ statuses: [...PetStatus.all], status })),
    cases: fc.record({
      statuses: fc.array(fc.constantFrom(...PetStatus.all), { maxLength: 4 }),
      status: fc.constantFrom(...PetStatus.all)
    }),
    runs: { port: 50, http: 4 },
    holds: (catalogue, { status, statuses }, trial) =>
      Effect.gen(function* () {
        for (const each of statuses) {
          yield* catalogue.create({ name: trial.name(), categoryId: catalogue.categoryOf(1n), status: each })
          if (each !== status) trial.saw("an animal that the filter leaves out")
        }
        for (const animal of yield* catalogue.list({ limit: 100, status })) {
          yield* expect(animal.status === status, `only animals with status ${status}`, `one that is ${animal.status}`)
        }
      })
  })
]
