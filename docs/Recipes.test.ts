/** The programs of conformance.md, run unchanged, on the sources instead of the package. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"

const root = new URL("../", import.meta.url)

const sources = new Map([
  ["animal-store", "adapters/embed/index.ts"],
  ["animal-store/conformance", "conformance/index.ts"],
  ["animal-store/conformance/vitest", "conformance/runners/Vitest.ts"],
  ["animal-store/memory", "adapters/memory/index.ts"]
])

const blocks = [
  ...fs
    .readFileSync(new URL("docs/conformance.md", root), "utf8")
    .matchAll(/^```(?:ts|js)\n([\s\S]*?)^```$/gm)
].map(([, code = ""]) => code)

// Within the repo, so that packages are found.
const folder = fs.mkdtempSync(fileURLToPath(new URL("docs/.recipes-", root)))
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** Saves the program of a block to a file. */
const saved = (name: string, marker: string): string => {
  const matching = blocks.filter((code) => code.includes(marker))
  expect(matching).toHaveLength(1)
  const code = (matching[0] ?? "").replaceAll(/from "(animal-store[^"]*)"/g, (_text, specifier: string) => {
    const source = sources.get(specifier)
    if (source === undefined) throw new Error(`${specifier} is not an entry point of the package`)
    return `from ${JSON.stringify(new URL(source, root).href)}`
  })
  const file = `${folder}/${name}`
  fs.writeFileSync(file, code)
  return file
}

const run = (args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, args, {
    cwd: fileURLToPath(root),
    encoding: "utf8",
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" },
    timeout: 120_000
  })

describe("conformance.md", () => {
  it("has a recipe for vitest that passes", () => {
    saved("adapter.test.ts", "animal-store/conformance/vitest")
    const vitest = fileURLToPath(new URL("node_modules/vitest/vitest.mjs", root))
    const { status, stdout } = run([vitest, "run", "--dir", folder])
    expect(stdout).toMatch(/Tests +\d+ passed/)
    expect(status).toBe(0)
  }, 150_000)

  it("has a recipe for node:test that passes", () => {
    const { status, stdout } = run(["--test", "--test-reporter=tap", saved("adapter.test.mjs", "node:test")])
    expect(stdout).toMatch(/# pass [1-9]/)
    expect(stdout).toMatch(/# fail 0/)
    expect(status).toBe(0)
  }, 150_000)

  it("has a program that reports our own service as conformant", () => {
    const { status, stderr, stdout } = run([saved("program.mjs", "Conformance.handler")])
    expect(stderr).toBe("")
    expect(stdout).toMatch(/CONFORMANT at level spec/)
    expect(status).toBe(0)
  }, 150_000)
})
