import { describe, expect, it } from "vitest"
import * as Options from "./Options.ts"

describe("the command line of npm run bench", () => {
  it("selects docs/performance for the page by default, but only for a full run", () => {
    expect(Options.parse([]).out).toBe(Options.documentation)
    for (const partial of [
      ["--quick"],
      ["--render"],
      ["--only", "http"],
      ["--servers", "fastify"],
      ["--cases", "get"],
      ["--rounds", "6"]
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
    const { cases, servers } = Options.parse(["--servers", "file", "--cases", "get"])
    expect(servers.map(({ name }) => name)).toEqual([
      "Bare",
      "AnimalStore memory",
      "Fastify SQLite, counts in the file"
    ])
    expect(cases.map(({ name }) => name)).toEqual(["get", "get, 1 connection", "get, 256 connections"])
  })

  it.each([
    [["--only", "htpp"]],
    [["--servers", "file,fastfy"]],
    [["--cases", "put"]],
    [["--rounds", "0"]],
    [["--fast"]],
    [["more"]],
    [["--rounds"]],
    [["--quick=1"]]
  ])("rejects %j", (args) => {
    expect(() => Options.parse(args)).toThrow(/./)
  })
})
