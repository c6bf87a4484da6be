import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { InvalidOptions } from "../Options.ts"
import * as Options from "./Options.ts"
import * as Report from "./Report.ts"
import { scenarios } from "./Scenarios.ts"
import { costs, defaults, networks } from "./Settings.ts"
import * as Simulation from "./Simulation.ts"

describe("the command line of npm run simulate", () => {
  it("selects the default settings without flags", () => {
    expect(Options.parse([])).toEqual({ kind: "one", settings: defaults, isJson: false })
  })

  it("sets the field of each given flag, and keeps the defaults of all others", () => {
    const flags =
      "--nodes 3 --keys 1e8 --store redis --cores 2 --network far --skew 20 --failover 1,2,3 --seed 9"
    expect(Options.settingsOf(flags)).toEqual({
      ...defaults,
      nodes: 3,
      keys: 1e8,
      cost: { ...costs.redis, cores: 2 },
      network: networks.far,
      skewMs: 20,
      failover: { atMs: 1, lostMs: 2, awayMs: 3 },
      seed: 9
    })
  })

  it("rejects invalid options", () => {
    for (const invalid of [
      "--nodes 0",
      "--nodes 1.5",
      "--rate -1",
      "--hot 2",
      "--store oracle",
      "--clock mine",
      "--failover 1,2",
      "--failover 1,2,3,4",
      "--seed x",
      "--scenario none",
      "--all --nodes 2",
      "--fast",
      "more"
    ])
      expect(() => Options.parse(invalid.split(" ")), invalid).toThrow(InvalidOptions)
  })
})

describe("the scenarios in docs/scaling.md", () => {
  it("have valid flags and different names", () => {
    for (const { flags } of scenarios) Options.settingsOf(flags)
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  })

  it("are all listed on the page, with the figures of the current code", () => {
    const page = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8")
    for (const { flags } of scenarios) expect(page).toContain(`\`${flags}\``)
    // Only two scenarios are run, because the others take too long for a test.
    for (const scenario of scenarios.filter(({ name }) => ["one", "skewed"].includes(name))) {
      const { report } = Simulation.run(Options.settingsOf(scenario.flags))
      expect(page, "run: npm run simulate -- --write").toContain(Report.row({ scenario, report }))
    }
  })
})
