import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { examine } from "../SelfTest.ts"
import * as Subjects from "../Subjects.ts"
import { outsiders } from "./Outsiders.ts"

const page = readFileSync(new URL("../../../docs/conformance/mutants.md", import.meta.url), "utf8")

const isMissed = (id: string): boolean => page.includes(`| \`${id}\` |`)

describe("the collection of outsiders", () => {
  it("contains at least 60 faults with unique ids; mutants.md states the number", () => {
    expect(outsiders.length).toBeGreaterThanOrEqual(60)
    expect(new Set(outsiders.map(({ id }) => id)).size).toBe(outsiders.length)
    expect(page).toContain(`${outsiders.length} faults were written`)
  })

  it("contains only faults that the suite rejects, except for those that mutants.md lists", {
    timeout: 120_000
  }, async () => {
    const conformant: Array<string> = []
    // To save time, runs only every fourth outsider, and all outsiders that the page lists.
    for (const [index, { id, where }] of outsiders.entries()) {
      if (index % 4 !== 0 && !isMissed(id)) continue
      const run = examine(Subjects.ofFault({ id, where }), { level: "spec", seed: 1 })
      const { verdict } = await Effect.runPromise(run)
      if (verdict !== "not-conformant") conformant.push(id)
    }
    expect(conformant, "run: node docs/MutantsPage.ts").toEqual(
      outsiders.map(({ id }) => id).filter(isMissed)
    )
  })
})
