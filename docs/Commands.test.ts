/** Every shell command of the pages is run by a test, or the page says why not. */
import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { run } from "../../adapters/cli/Serve.fixture.ts"
import { blocks, commandsOf, pages, read, shell } from "./Pages.fixture.ts"

const sourceOfTests = fs
  .readdirSync(new URL(".", import.meta.url))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => fs.readFileSync(new URL(name, import.meta.url), "utf8"))
  .join("\n")

describe("the commands of the pages", () => {
  it.each(pages)("%s marks each block as run or not run", (page) => {
    const ofPage = blocks.filter((block) => block.page === page)
    expect(ofPage.length).toBeGreaterThan(0)
    const unmarked = ofPage.filter(({ name, reason }) => name === undefined && reason === undefined)
    expect(unmarked.map(({ code }) => code)).toEqual([])
    const all = fs.readFileSync(new URL(`../../${page}`, import.meta.url), "utf8")
    expect(all.match(/^ *```sh$/gm)).toHaveLength(ofPage.length)
  })

  it("marked as run are run", () => {
    const names = blocks.flatMap(({ name }) => name ?? [])
    const untested = names.filter((name) => !sourceOfTests.includes(`commandsOf("${name}")`))
    expect(untested).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})

describe("the files", () => {
  it("set only variables that belong to flags of the server", async () => {
    const { stdout } = await run(["serve", "--help"])
    const known: ReadonlyArray<string> = stdout.match(/ANIMAL_STORE_[A-Z_]+/g) ?? []
    const files = fs
      .readdirSync(new URL(".", import.meta.url))
      .filter((name) => !name.endsWith(".ts") && !name.endsWith(".md"))
    const used = files.flatMap((name) => read(name).match(/ANIMAL_STORE_[A-Z_]+/g) ?? [])
    // The comment of the unit has a name with an ellipsis.
    const unknown = used.filter((name) => !known.includes(name) && name !== "ANIMAL_STORE_")
    expect(unknown).toEqual([])
    expect(used.length).toBeGreaterThan(5)
  })
})

describe("docs/releasing.md", () => {
  it("lists what the package holds", () => {
    const [command = ""] = commandsOf("pack")
    const { status, stderr } = shell(`${command} --loglevel=notice`)
    expect(stderr).toContain("CHANGELOG.md")
    expect(stderr).not.toMatch(/\.test\.ts|\.fixture\./)
    expect(status).toBe(0)
  })

  it("makes a bill of materials of what users get, and of nothing else", () => {
    const [cyclonedx, spdx] = commandsOf("sbom").map((command) => {
      // Standard error can have warnings about the npm of the machine.
      const { status, stdout } = shell(command)
      expect(status).toBe(0)
      return JSON.parse(stdout)
    })
    const names = (list: ReadonlyArray<{ readonly name: string }>) => list.map(({ name }) => name)
    const components = names(cyclonedx.components)
    expect(components).toEqual(
      expect.arrayContaining(["@effect/platform-node", "@effect/sql-pg", "fast-check"])
    )
    expect(components.filter((name) => ["vitest", "fastify", "tsup"].includes(name))).toEqual([])
    expect(names(spdx.packages)).toEqual(expect.arrayContaining(components))
  })
})
