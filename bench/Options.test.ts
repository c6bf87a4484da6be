import { describe, expect, it } from "vitest"
import { InvalidOptions } from "./Command.ts"
import * as Options from "./Options.ts"

describe("the command line of npm run bench", () => {
  it("selects docs/performance for the page by default, but only for a full run", () => {
    expect(Options.parse([]).out).toBe(Options.documentation)
    for (const partial of [
      ["--quick"],
      ["--render"],
      ["--only", "http"],
      ["--servers", "hono"],
      ["--cases", "get"],
      ["--rounds", "4"]
    ]) {
      expect(Options.parse(partial).out, partial.join(" ")).toBeUndefined()
    }
    expect(Options.parse(["--quick", "--out", "data"]).out).toBe("data")
  })

  it("selects all parts, in a quick run all but the process part", () => {
    expect([...Options.parse([]).parts]).toEqual(["http", "latency", "process"])
    expect([...Options.parse(["--quick"]).parts]).toEqual(["http", "latency"])
    expect([...Options.parse(["--quick", "--only", "process"]).parts]).toEqual(["process"])
  })

  it("always selects the bare server and the reference", () => {
    const { cases, servers } = Options.parse(["--servers", "hono", "--cases", "mix"])
    expect(servers.map(({ name }) => name)).toEqual(["Bare", "Hono", "AnimalStore memory"])
    expect(cases.map(({ name }) => name)).toEqual(["mix", "mix, 1 connection", "mix, 256 connections"])
  })

  it.each([
    [["--only", "htpp"]],
    [["--servers", "hono,fastfy"]],
    [["--cases", "put"]],
    [["--rounds", "0"]],
    [["--fast"]]
  ])("rejects %j", (args) => {
    expect(() => Options.parse(args)).toThrow(InvalidOptions)
  })
})
