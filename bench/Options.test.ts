import { describe, expect, it } from "vitest"
import { choose, documentation, expectKnown, InvalidOptions, parse } from "./Options.ts"

describe("Options", () => {
  it("selects docs/performance for the results by default, but only for a full run", () => {
    expect(parse([])?.out).toEqual(documentation)
    for (const partial of [
      ["--quick"],
      ["--only", "http"],
      ["--servers", "hono"],
      ["--cases", "get"],
      ["--rounds", "4"]
    ]) {
      expect(parse(partial)?.out, partial.join(" ")).toBeUndefined()
    }
  })

  it("selects the --out directory for the results of any run", () => {
    expect(parse(["--quick", "--out", "docs/performance"])?.out).toEqual(documentation)
  })

  it("rejects invalid options", () => {
    for (const invalid of [
      ["--only", "htpp"],
      ["--rounds", "0"],
      ["--rounds", "1.5"],
      ["--fast"],
      ["more"]
    ]) {
      expect(() => parse(invalid), invalid.join(" ")).toThrow(InvalidOptions)
    }
  })

  it("rejects a substring that no name contains, even if the other substrings match", () => {
    const names = ["Hono", "AnimalStore memory"]
    expect(() => expectKnown("--servers", names, ["hono", "fastfy"])).toThrow(
      new InvalidOptions("--servers: unknown name fastfy; the names are Hono, AnimalStore memory")
    )
    expectKnown("--servers", names, ["hono", "MEMORY"])
    expectKnown("--servers", names, [])
  })

  it("chooses servers by substrings of their names", () => {
    const servers = ["Hono", "AnimalStore memory", "AnimalStore SQLite"].map((name) => ({ name }))
    expect(choose(servers, ["animalstore"]).map(({ name }) => name)).toEqual([
      "AnimalStore memory",
      "AnimalStore SQLite"
    ])
    expect(choose(servers, [])).toEqual(servers)
  })
})
