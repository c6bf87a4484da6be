import { afterAll, describe, expect, it } from "vitest"
import { stopAll } from "../Child.ts"
import { LoadGenerator } from "./LoadGenerator.ts"
import * as Rounds from "./Rounds.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { bare, reference } from "./Servers.ts"
import * as Workload from "./Workload.ts"

const amount = { requests: 50, seconds: 60 }
const options = { rounds: 2, processWarmUp: amount, caseWarmUp: amount, turn: amount }

const bareServer = await ServerProcess.start(bare)
const ours = await ServerProcess.start(reference)
const load = new LoadGenerator()
const setup = { servers: [bareServer, ours], bare: bareServer, reference: ours, load }
afterAll(stopAll)

const shortCases = Workload.cases
  .filter(({ name }) => ["mix", "get", "create", "mix, 1 connection"].includes(name))
  .map((measured) => ({ ...measured, connections: Math.min(measured.connections, 8) }))
const workload = (name: string): Workload.Workload => {
  const found = Workload.operations.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`unknown workload ${name}`)
  return found
}

describe("Rounds.measure", () => {
  it.each(shortCases)("measures $name on the bare server and on this project's server", async (measured) => {
    const { name, servers } = await Rounds.measure(setup, measured, options)
    expect(name).toBe(measured.name)
    expect(servers.map(({ server }) => server)).toEqual([bare.name, reference.name])
    for (const { cpuMicros, perSecond, ratio } of servers) {
      expect(cpuMicros.low).toBeGreaterThan(0)
      expect(perSecond.low).toBeGreaterThan(0)
      expect(ratio.median).toBeGreaterThan(0)
    }
    expect(servers[0]?.ratio).toEqual({ median: 1, low: 1, high: 1 })
  })
})

describe("the ratio to the bare server", () => {
  it("is the median of the rounds' ratios, and therefore lies within their middle half", () => {
    const turn = (cpuMicros: number): Rounds.Turn => ({ databaseMicros: undefined, cpuMicros, perSecond: 1 })
    // The ratio of the medians is 1, although the server took twice as long in two of three rounds.
    const { ratio } = Rounds.figuresOf([2, 20, 3].map(turn), [1, 10, 3].map(turn))
    expect(ratio).toEqual({ low: 1.5, median: 2, high: 2 })
  })
})

describe("the load generator", () => {
  const sent = { connections: 8, requests: 100, seconds: 5, seed: 1, isCyclic: false }

  it("sends each request once if the load is not cyclic", async () => {
    expect(await load.run(ours, { ...sent, workload: Workload.mix })).toMatchObject({
      requests: 100,
      unplanned: 0
    })
  })

  it("rejects if too many responses have an unplanned status", async () => {
    // The keys are unknown to this server.
    const otherServer = await ServerProcess.start(reference)
    const { cursors, tokens } = ours.address
    const withWrongKeys = Object.create(otherServer, {
      address: { value: { port: otherServer.address.port, tokens, cursors } }
    })
    await expect(load.run(withWrongKeys, { ...sent, workload: workload("get") })).rejects.toThrow(
      /^get at AnimalStore memory: (\d+) of \1 responses had an unplanned status$/
    )
  })

  it("sends requests at the given rate", async () => {
    const constant = { ...sent, workload: workload("get"), seconds: 0.5, rate: 200, isCyclic: true }
    const { requests } = await load.run(ours, constant)
    // A busy machine sends fewer requests.
    expect(requests).toBeGreaterThan(0)
    expect(requests).toBeLessThanOrEqual(101)
  })
})
