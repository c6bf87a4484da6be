import { describe, expect, it } from "vitest"
import * as Command from "./Command.ts"

const options: Command.Options = {
  rounds: Command.text("N", "rounds per case", "5"),
  quick: Command.flag("short rounds")
}

describe("Command", () => {
  it("parses options with their defaults", () => {
    const given = Command.parse(["--quick"], options)
    expect([given.text("rounds"), given.has("quick"), given.text("quick")]).toEqual(["5", true, undefined])
    expect(Command.parse([".", "--rounds", "2"], options, true)).toMatchObject({ positionals: ["."] })
  })

  it("lists each option with its default in the help", () => {
    expect(Command.help("npm run x", options, "Exit codes: 0")).toBe(
      "npm run x\n\n  --rounds N            rounds per case (default 5)\n  --quick               short rounds\n  --help\n\nExit codes: 0"
    )
  })

  it.each([[["--fast"]], [["more"]], [["--rounds"]], [["--quick=1"]]])("rejects %j", (args) => {
    expect(() => Command.parse(args, options)).toThrow(Command.InvalidOptions)
  })

  it("accepts only whole numbers above 0 as counts", () => {
    const count = (text: string) => Command.parse([`--rounds=${text}`], options).count("rounds")
    expect(count("7")).toBe(7)
    for (const invalid of ["0", "1.5", "-1", "x"])
      expect(() => count(invalid), invalid).toThrow(Command.InvalidOptions)
  })

  it("chooses values by substrings of their names, and rejects a substring that no name contains", () => {
    const servers = ["Hono", "AnimalStore memory", "AnimalStore SQLite"].map((name) => ({ name }))
    const chosen = (...requested: ReadonlyArray<string>) =>
      Command.choose("servers", servers, requested).map(({ name }) => name)
    expect(chosen("animalstore")).toEqual(["AnimalStore memory", "AnimalStore SQLite"])
    expect(chosen()).toHaveLength(3)
    expect(Command.listOf(" hono, ,SQLITE ").flatMap((part) => chosen(part))).toEqual([
      "Hono",
      "AnimalStore SQLite"
    ])
    expect(() => chosen("hono", "fastfy")).toThrow(
      new Command.InvalidOptions(
        "--servers: unknown name fastfy; the names are Hono, AnimalStore memory, AnimalStore SQLite"
      )
    )
  })
})
