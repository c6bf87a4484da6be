import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { describe, expect, it } from "vitest"
import { examine } from "../SelfTest.ts"
import * as Subjects from "../Subjects.ts"
import { outsiders } from "./Outsiders.ts"

const page = readFileSync(new URL("../../../docs/conformance/mutants.md", import.meta.url), "utf8")

const isMissed = (id: string): boolean => page.includes(`| \`${id}\` |`)

describe("the outsiders", () => {
  it("are at least 60, with unique ids", () => {
    expect(outsiders.length).toBeGreaterThanOrEqual(60)
    expect(new Set(outsiders.map(({ id }) => id)).size).toBe(outsiders.length)
    expect(page).toContain(`${outsiders.length} faults were written`)
  })

  it("are rejected, except for those that the page names", { timeout: 120_000 }, async () => {
    const conformant: Array<string> = []
    // Every fourth, and those that the page names.
    for (const [index, { id, where }] of outsiders.entries()) {
      if (index % 4 !== 0 && !isMissed(id)) continue
      const run = examine(Subjects.ofFault({ id, where }), { level: "spec", seed: 1 })
      const { verdict } = await Effect.runPromise(
        Effect.provideService(run, References.MinimumLogLevel, "None")
      )
      if (verdict !== "not-conformant") conformant.push(id)
    }
    expect(conformant, "run: node docs/MutantsPage.ts").toEqual(
      outsiders.map(({ id }) => id).filter(isMissed)
    )
  })
})
