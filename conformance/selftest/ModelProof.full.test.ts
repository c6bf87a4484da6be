import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ambientChecks, checks } from "../checks/Checks.ts"
import { conformingVariants } from "./ConformingVariants.ts"
import { faults } from "./Faults.ts"
import type { Result, Task } from "./ModelHunt.ts"
import * as Legal from "./mutants/Legal.ts"
import { sample } from "./mutants/Mutants.ts"
import * as Recording from "./Recording.ts"
import * as Subjects from "./Subjects.ts"
import * as Threads from "./Threads.ts"

const HOUR_MS = 3_600_000

const levelOf = new Map([...checks, ...ambientChecks].map(({ id, level }) => [id, level]))

const huntAll = (tasks: ReadonlyArray<Task>): Promise<ReadonlyArray<Result>> =>
  Threads.map<Task, Result>({ module: new URL("./ModelHunt.ts", import.meta.url).href, inputs: tasks })

/** Faults that no exchange can show: the base path is declared, not sent. */
const invisible = ["protocol.other-base"]

describe("the model alone", () => {
  it.each([
    ["reference", Subjects.reference] as const,
    ...conformingVariants.map((variant) => [variant.id, Subjects.ofVariant(variant)] as const)
  ])(
    "accepts a correct server: %s",
    async (_id, subject) => {
      for (const seed of [1, 2, 3]) {
        const recording = await Effect.runPromise(Recording.of(subject, { level: "design", seed }))
        expect(Recording.judge(recording, "spec").violations).toEqual([])
      }
    },
    HOUR_MS
  )

  it(
    "rejects every fault of a server that a check of level spec rejects",
    async () => {
      const ofSpec = faults.filter(
        ({ killedBy, where }) => where.at === "http" && levelOf.get(killedBy) === "spec"
      )
      const results = await huntAll(
        ofSpec.map(({ id }) => ({ kind: "fault", id, seed: 1, level: "design", judgedAt: "spec" }))
      )
      expect(results.filter(({ found }) => found === undefined).map(({ id }) => id)).toEqual(invisible)
    },
    HOUR_MS
  )

  it(
    "rejects nearly all mutants that break the contract",
    async () => {
      const mutants = sample(600, 2)
      const results = await huntAll(
        mutants.map(({ id }) => ({ kind: "mutant", id, seed: 2, level: "design", judgedAt: "spec" }))
      )
      const faulty = results.filter(({ changed }, index) => {
        const mutant = mutants[index]
        return changed > 0 && mutant !== undefined && Legal.reasonFor(mutant) === undefined
      })
      const missed = faulty.filter(({ found }) => found === undefined)
      console.log(
        `${faulty.length - missed.length} of ${faulty.length} mutants rejected; missed:\n${missed.map(({ id }) => id).join("\n")}`
      )
      expect(missed.length).toBeLessThanOrEqual(0.08 * faulty.length)
    },
    HOUR_MS
  )
})
