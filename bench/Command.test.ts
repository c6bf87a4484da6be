import { describe, expect, it } from "vitest"
import * as Command from "./Command.ts"

describe("Command", () => {
  it("accepts only whole numbers above 0 as counts", () => {
    expect(Command.count("rounds", "7")).toBe(7)
    for (const invalid of ["0", "1.5", "-1", "x", ""])
      expect(() => Command.count("rounds", invalid), invalid).toThrow(Command.InvalidOptions)
  })

  it("chooses values by substrings of their names, and rejects a substring that no name contains", () => {
    const servers = ["Bare", "AnimalStore memory", "AnimalStore SQLite"].map((name) => ({ name }))
    const chosen = (requested?: string) =>
      Command.choose("servers", servers, requested).map(({ name }) => name)
    expect(chosen("animalstore")).toEqual(["AnimalStore memory", "AnimalStore SQLite"])
    expect(chosen()).toHaveLength(3)
    expect(chosen(" bare, ,SQLITE ")).toEqual(["Bare", "AnimalStore SQLite"])
    expect(() => chosen("bare,fastfy")).toThrow(
      new Command.InvalidOptions(
        "--servers: unknown name fastfy; the names are Bare, AnimalStore memory, AnimalStore SQLite"
      )
    )
  })
})
