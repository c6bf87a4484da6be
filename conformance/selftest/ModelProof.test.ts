import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { plain } from "./ConformingVariants.ts"
import * as ModelHunt from "./ModelHunt.ts"
import * as Mutant from "./mutants/Mutant.ts"
import { mutants } from "./mutants/Mutants.ts"
import * as Recording from "./Recording.ts"
import * as Subjects from "./Subjects.ts"

const record = (subject: Parameters<typeof Recording.of>[0], seed: number) =>
  Effect.runPromise(Recording.of(subject, { level: "spec", seed }))

describe("the model, on the exchanges of a run", () => {
  let recording: Recording.Recording
  beforeAll(async () => {
    recording = await record(Subjects.reference, 1)
  })

  it("finds nothing in a run against the service of the core", () => {
    expect(recording.exchanges.length).toBeGreaterThan(2_000)
    expect(Recording.judge(recording, "spec").violations).toEqual([])
  })

  it.each(["mixed.all-different", "mixed.gateway"])(
    "finds nothing in a run against another correct server: %s",
    async (id) => {
      const variant = plain.find((each) => each.id === id)
      if (variant === undefined) throw new Error(`the variant ${id} does not exist`)
      expect(Recording.judge(await record(Subjects.ofVariant(variant), 1), "spec").violations).toEqual([])
    }
  )

  it.each([
    "drop X-RateLimit-Reset · on 404",
    "swap status in a list · for the status sold",
    "trim name in a list · always",
    "send 403 for status 401 · always",
    "add one to X-RateLimit-Remaining · for a key with a small limit"
  ])("finds a mutant in the same recording: %s", (id) => {
    const mutant = mutants.find((each) => each.id === id)
    if (mutant === undefined) throw new Error(`the mutant ${id} does not exist`)
    const where = Mutant.install(mutant, { reached: 0, changed: 0 })
    if (where.at !== "http" || where.transport === undefined)
      throw new Error(`${id} does not change responses`)
    expect(Recording.judge(Recording.replay(recording, where.transport), "spec", 1).violations).toHaveLength(
      1
    )
  })

  it("finds a fault while a run goes on", async () => {
    const task = {
      kind: "fault",
      id: "protocol.list-as-html",
      seed: 1,
      level: "spec",
      judgedAt: "spec"
    } as const
    expect((await ModelHunt.task(task)).found).toMatchObject({ clause: "http.json-bodies" })
  })
})
