/** The files set only what the server knows. */
import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { run } from "../../adapters/cli/Serve.fixture.ts"
import { read } from "../Pages.fixture.ts"

describe("the files", () => {
  it("set only variables that belong to flags of the server", async () => {
    const { stdout } = await run(["serve", "--help"])
    const known: ReadonlyArray<string> = stdout.match(/ANIMAL_STORE_[A-Z_]+/g) ?? []
    const files = fs
      .readdirSync(new URL(".", import.meta.url))
      .filter((name) => !name.endsWith(".ts") && !name.endsWith(".md"))
    const used = files.flatMap((name) => read(`docs/deploying/${name}`).match(/ANIMAL_STORE_[A-Z_]+/g) ?? [])
    // The comment of the unit has a name with an ellipsis.
    const unknown = used.filter((name) => !known.includes(name) && name !== "ANIMAL_STORE_")
    expect(unknown).toEqual([])
    expect(used.length).toBeGreaterThan(5)
  })
})
