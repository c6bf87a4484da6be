import { describe, expect, it } from "vitest"
import { choose, documentation, expectKnown, InvalidOptions, parse } from "./Options.ts"

describe("Options", () => {
  it("writes the documentation after a whole run only, or to the given folder", () => {
    expect(parse([])?.out).toEqual(documentation)
    for (const partly of [
      ["--quick"],
      ["--only", "http"],
      ["--servers", "hono"],
      ["--cases", "get"],
      ["--rounds", "4"]
    ]) {
      expect(parse(partly)?.out, partly.join(" ")).toBeUndefined()
    }
    expect(parse(["--quick", "--out", "docs/performance"])?.out).toEqual(documentation)
  })

  it("rejects invalid options", () => {
    for (const wrong of [["--only", "htpp"], ["--rounds", "0"], ["--rounds", "1.5"], ["--fast"], ["more"]]) {
      expect(() => parse(wrong), wrong.join(" ")).toThrow(InvalidOptions)
    }
  })

  it("rejects a name that matches nothing, even if others match", () => {
    const names = ["Hono", "AnimalStore memory"]
    expect(() => expectKnown("--servers", names, ["hono", "fastfy"])).toThrow(
      new InvalidOptions("--servers: unknown name fastfy; known are Hono, AnimalStore memory")
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
