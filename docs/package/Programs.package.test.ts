/** The programs of the documents, with the installed package. */
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { programOf } from "../Programs.fixture.ts"
import { createDirectory, root, run, start } from "./Package.fixture.ts"

/** Saves a program in a new directory, and returns its path. */
const save = (name: string, program: string): string => {
  const file = path.join(createDirectory(), name)
  fs.writeFileSync(file, program)
  return file
}

const startProgram = (file: string) =>
  start(path.dirname(file), process.execPath, [file], /^curl /, { PORT: "0" })

const runProgram = (file: string, args: ReadonlyArray<string> = []) =>
  run(path.dirname(file), process.execPath, [...args, file], { NODE_TEST_CONTEXT: undefined })

describe("with the installed package", () => {
  it("the README's program serves the first key", async () => {
    const program = programOf("README.md", "openAnimalStore").replaceAll("3000", "28417")
    const { line } = await startProgram(save("readme.mjs", program))
    const [, key = ""] = /Bearer (ast_\w+)/.exec(line) ?? []
    const response = await fetch("http://127.0.0.1:28417/v1/pets", {
      headers: { Authorization: `Bearer ${key}` }
    })
    expect(response.status).toBe(200)
  })

  it("the program for Effect serves", async () => {
    const program = fs.readFileSync(path.join(root, "docs/recipes/effect/main.mjs"), "utf8")
    const { line } = await startProgram(save("effect.mjs", program))
    const [origin = ""] = /http:\/\/[^/]+/.exec(line) ?? []
    expect((await fetch(`${origin}/readyz`)).status).toBe(200)
  })

  it("the suite's program for node:test passes", () => {
    const file = save("adapter.test.mjs", programOf("docs/conformance.md", "node:test"))
    const { status, stdout } = runProgram(file, ["--test"])
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/pass [1-9]/) })
  })

  it("the suite's program for a handler reports this service as conformant", () => {
    const file = save("handler.mjs", programOf("docs/conformance.md", "Conformance.handler"))
    const { status, stdout } = runProgram(file)
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/CONFORMANT/) })
  })
})
