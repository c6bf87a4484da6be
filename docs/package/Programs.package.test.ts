/** The programs of conformance.md, with the installed package; `docs/recipes` runs those for hosts. */
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { programOf } from "../Programs.fixture.ts"
import { createDirectory, run } from "./Package.fixture.ts"

/** Saves a program in a new directory, and returns its path. */
const save = (name: string, program: string): string => {
  const file = path.join(createDirectory(), name)
  fs.writeFileSync(file, program)
  return file
}

const runProgram = (file: string, args: ReadonlyArray<string> = []) =>
  run(path.dirname(file), process.execPath, [...args, file], { NODE_TEST_CONTEXT: undefined })

describe("with the installed package", () => {
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
