import { describe, expect, it } from "vitest"
import { choose, documentation, expectKnown, InvalidOptions, parse } from "./Options.ts"

describe("Options", () => {
  it("writes the documentation after a whole run only, or where it is told to", () => {
    expect(parse([])?.out).toEqual(documentation)
    for (const partly of [
      ["--quick"],
      ["--only", "http"],
      ["--servers", "hono"],
      ["--operations", "get"],
      ["--rounds", "4"],
      ["--compare"]
    ]) {
      expect(parse(partly)?.out, partly.join(" ")).toBeUndefined()
    }
    expect(parse(["--quick", "--out", "docs/performance"])?.out).toEqual(documentation)
  })

  it("refuses what cannot be meant", () => {
    for (const wrong of [
      ["--only", "htpp"],
      ["--rounds", "0"],
      ["--rounds", "1.5"],
      ["--seconds", "x"],
      ["--fast"],
      ["more"]
    ]) {
      expect(() => parse(wrong), wrong.join(" ")).toThrow(InvalidOptions)
    }
    expect(() => parse(["--save-baseline", "--quick"])).toThrow(InvalidOptions)
    expect(() => parse(["--save-baseline", "--only", "soak"])).toThrow(InvalidOptions)
  })

  it("refuses parts of names that nothing has, though other parts fit", () => {
    const names = ["Hono", "AnimalStore memory"]
    expect(() => expectKnown("--servers", names, ["hono", "fastfy"])).toThrow(
      new InvalidOptions("--servers: there is no fastfy; there are Hono, AnimalStore memory")
    )
    expectKnown("--servers", names, ["hono", "MEMORY"])
    expectKnown("--servers", names, [])
  })

  it("chooses by parts of names", () => {
    const servers = ["Hono", "AnimalStore memory", "AnimalStore SQLite"].map((name) => ({ name }))
    expect(choose(servers, ["animalstore"]).map(({ name }) => name)).toEqual([
      "AnimalStore memory",
      "AnimalStore SQLite"
    ])
    expect(choose(servers, [])).toEqual(servers)
  })
})
