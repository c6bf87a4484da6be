/**
 * Runs the programs in conformance.md, but imports the sources instead of the package, and selects some of the checks:
 * the tests of the adapters run all of them.
 */
import { spawnSync } from "node:child_process"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "./Pages.fixture.ts"
import { programOf, save } from "./Programs.fixture.ts"

/** Saves the page's program that contains `text`, but runs only the checks `only`; returns the path. */
const saveProgram = (name: string, text: string, only: string): string => {
  const program = programOf("docs/conformance.md", text)
  const selected = program.replace(/\{ level: "(design|spec)" \}/, `{ level: "$1", only: ["${only}"] }`)
  expect(selected).not.toBe(program)
  return save(name, selected)
}

const run = (args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" },
    timeout: 300_000
  })

describe("conformance.md", () => {
  it("has a Vitest example whose tests all pass", () => {
    const file = saveProgram("adapter.test.ts", "animal-store/conformance/vitest", "pets.*")
    const vitest = path.join(root, "node_modules/vitest/vitest.mjs")
    const { status, stdout } = run([vitest, "run", "--dir", path.dirname(file)])
    expect(stdout).toMatch(/Tests +\d+ passed/)
    expect(status).toBe(0)
  }, 320_000)

  it("has a node:test example whose tests all pass", () => {
    const { status, stdout } = run([
      "--test",
      "--test-reporter=tap",
      saveProgram("adapter.test.mjs", "node:test", "pets.*")
    ])
    expect(stdout).toMatch(/# pass [1-9]/)
    expect(stdout).toMatch(/# fail 0/)
    expect(status).toBe(0)
  }, 320_000)

  it("has a program that reports this project's service as conformant", () => {
    const { status, stderr, stdout } = run([saveProgram("program.mjs", "Conformance.handler", "auth.*")])
    expect(stderr).toBe("")
    expect(stdout).toMatch(/^conformant: auth$/m)
    expect(status).toBe(0)
  }, 320_000)
})
