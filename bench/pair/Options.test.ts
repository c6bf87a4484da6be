import { describe, expect, it } from "vitest"
import { InvalidOptions } from "../Options.ts"
import { parse } from "./Options.ts"

describe("the command line of bench:pair", () => {
  it("measures the mix on all databases by default", () => {
    expect(parse([".", "."])).toMatchObject({
      databases: ["memory", "sqlite", "postgresql"],
      workloads: [{ name: "mix" }],
      connections: 64,
      isSecondMetered: false
    })
  })

  it("collects metrics in the second server with --metrics", () => {
    expect(parse([".", ".", "--metrics"])).toMatchObject({ isSecondMetered: true })
  })

  it("accepts comma-separated names", () => {
    expect(parse([".", ".", "--databases", "memory, sqlite", "--workloads", "get,list 20"])).toMatchObject({
      databases: ["memory", "sqlite"],
      workloads: [{ name: "get" }, { name: "list 20" }]
    })
  })

  it("rejects invalid options, and directories that are not checkouts", () => {
    for (const invalid of [
      ["."],
      [".", ".", "."],
      [".", "docs"],
      [".", ".", "--databases", "redis"],
      [".", ".", "--workloads", "put"],
      [".", ".", "--rounds", "0"],
      [".", ".", "--fast"]
    ]) {
      expect(() => parse(invalid), invalid.join(" ")).toThrow(InvalidOptions)
    }
  })
})
