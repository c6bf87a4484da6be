/** Checks that each block of shell commands on the pages has a test, or a reason why no test runs it. */
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { blocks, commandsOf, pages, read, shell } from "./Pages.fixture.ts"

const here = new URL(".", import.meta.url)

const testSource = ["", "deploying/"]
  .flatMap((directory) => fs.readdirSync(new URL(directory, here)).map((name) => directory + name))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => fs.readFileSync(new URL(name, here), "utf8"))
  .join("\n")

describe("documentation", () => {
  it.each(pages)("marks each block of shell commands in %s as run or as not run", (page) => {
    const pageBlocks = blocks.filter((block) => block.page === page)
    expect(pageBlocks.length).toBeGreaterThan(0)
    const unmarked = pageBlocks.filter(({ name, reason }) => name === undefined && reason === undefined)
    expect(unmarked.map(({ code }) => code)).toEqual([])
    expect(read(page).match(/^ *```sh$/gm)).toHaveLength(pageBlocks.length)
  })

  it("has a test for each block that is marked as run", () => {
    const names = blocks.flatMap(({ name }) => name ?? [])
    const untested = names.filter((name) => !testSource.includes(`commandsOf("${name}")`))
    expect(untested).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(pages)("names in %s only npm scripts that exist in package.json", (page) => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read("package.json"))
    // The page about embedding also names the scripts of its recipes.
    const [recipe] = page === "docs/embedding.md" ? ["docs/recipes/next/package.json"] : []
    const recipeScripts: typeof scripts = recipe === undefined ? {} : JSON.parse(read(recipe)).scripts
    const mentions = [...read(page).matchAll(/npm (?:run )?(start|test|(?<=run )[a-z][a-z:-]*)/g)]
    const missing = mentions.flatMap(([, name = ""]) =>
      name in scripts || name in recipeScripts ? [] : [name]
    )
    expect(missing).toEqual([])
  })
})

describe("docs/releasing.md", () => {
  it("has a command that packs no tests or fixtures, and only pages whose links lead to packed files", () => {
    const [command = ""] = commandsOf("pack")
    const { status, stdout } = shell(`${command} --json --loglevel=error`)
    expect(status).toBe(0)
    const [{ files }]: [{ files: ReadonlyArray<{ readonly path: string }> }] = JSON.parse(stdout)
    const packed = files.map((file) => file.path)
    expect(packed).toContain("CHANGELOG.md")
    expect(packed.filter((name) => /\.test\.ts|\.fixture\./.test(name))).toEqual([])
    const pagesInside = packed.filter((name) => name.endsWith(".md"))
    expect(pagesInside).toContain("docs/conformance/implementations.md")
    const deadLinks = pagesInside.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].flatMap(([, link = ""]) => {
        const target = path.posix.join(path.posix.dirname(page), link)
        const isPacked = packed.some(
          (name) => name === target || name.startsWith(`${target.replace(/\/$/, "")}/`)
        )
        return isPacked ? [] : [`${page} -> ${link}`]
      })
    )
    expect(deadLinks).toEqual([])
  })

  it("has commands for a bill of materials with runtime packages and no development packages", () => {
    const [cyclonedx, spdx] = commandsOf("sbom").map((command) => {
      // Standard error is ignored: it can have warnings about the machine's npm.
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
