/** Checks that the deployment files set only variables that the server knows. */
import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { run } from "../../adapters/cli/CommandLine.fixture.ts"
import { read } from "../Pages.fixture.ts"

describe("the deployment files", () => {
  it("set only environment variables that the help of the serve command lists", async () => {
    const { stdout } = await run(["serve", "--help"])
    const known: ReadonlyArray<string> = stdout.match(/ANIMAL_STORE_[A-Z_]+/g) ?? []
    const files = fs
      .readdirSync(new URL(".", import.meta.url))
      .filter((name) => !name.endsWith(".ts") && !name.endsWith(".md"))
    const used = files.flatMap((name) => read(`docs/deploying/${name}`).match(/ANIMAL_STORE_[A-Z_]+/g) ?? [])
    // A comment in the unit abbreviates the names as `ANIMAL_STORE_…`.
    const unknown = used.filter((name) => !known.includes(name) && name !== "ANIMAL_STORE_")
    expect(unknown).toEqual([])
    expect(used.length).toBeGreaterThan(5)
  })
})
