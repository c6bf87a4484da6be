import { describe, expect, it } from "vitest"
import { InvalidOptions } from "../Options.ts"
import { parse } from "./Options.ts"

const names = ["pipelined-gets", "pipelined-posts", "rolling-restart"]

describe("the command line of npm run attack", () => {
  it("selects all scenarios at full length by default", () => {
    expect(parse([], names)).toEqual({
      ...{ only: [], databases: [], isQuick: false, isListing: false, isWritten: false }
    })
  })

  it("selects scenarios by substrings of their names, and databases case-insensitively", () => {
    const args = ["--quick", "--only", "posts, rolling", "--databases", "sqlite,PostgreSQL"]
    expect(parse(args, names)).toMatchObject({
      ...{ isQuick: true, only: ["posts", "rolling"], databases: ["SQLite", "PostgreSQL"] }
    })
  })

  it("returns undefined for --help", () => {
    expect(parse(["--help"], names)).toBeUndefined()
  })

  it.each([
    [["--only", "teardrop"], /unknown name teardrop; the scenarios are pipelined-gets/],
    [["--databases", "oracle"], /unknown name oracle/],
    [["--write", "--only", "rolling"], /only a run of all scenarios/],
    [["--write", "--databases", "memory"], /only a run of all scenarios/],
    [["--fast"], /--fast/]
  ])("rejects %j", (args, message) => {
    expect(() => parse(args, names)).toThrow(InvalidOptions)
    expect(() => parse(args, names)).toThrow(message)
  })
})
