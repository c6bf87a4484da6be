import { afterAll, describe, expect, it } from "vitest"
import { stopAll } from "../Child.ts"
import { LoadGenerator } from "../http/LoadGenerator.ts"
import { ServerProcess } from "../http/ServerProcess.ts"
import { reference } from "../http/Servers.ts"
import { mix } from "../http/Workload.ts"
import * as Pair from "./Pair.ts"

afterAll(stopAll)

describe("Pair", () => {
  it("measures both servers in each round", async () => {
    const pair = [await ServerProcess.start(reference), await ServerProcess.start(reference)] as const
    const settings = { workload: mix, rounds: 3, warmUpRequests: 50, requests: 50, connections: 8 }
    const rounds = await Pair.measure(pair, new LoadGenerator(), settings)
    expect(rounds).toHaveLength(3)
    for (const { first, second } of rounds) {
      expect(first).toBeGreaterThan(0)
      expect(second).toBeGreaterThan(0)
    }
  })

  it("formats the median of the ratios and both CPU times", () => {
    const rounds = [90, 110, 100].map((second) => ({ first: 50, second }))
    expect(Pair.row("memory, mix", rounds)).toMatch(
      /^memory, mix +2\.000 +1\.8\d\d–2\.\d{3} +1\.900–2\.100 +50\.0 +100\.0$/
    )
  })
})
