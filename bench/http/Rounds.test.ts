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
    for (const { turns } of servers) {
      expect(turns).toHaveLength(options.rounds)
      for (const { cpuMicros, perSecond } of turns) {
        expect(cpuMicros).toBeGreaterThan(0)
        expect(perSecond).toBeGreaterThan(0)
      }
    }
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
