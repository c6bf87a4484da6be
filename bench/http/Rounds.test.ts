import { afterAll, describe, expect, it } from "vitest"
import { Progress } from "../Progress.ts"
import { stopAll } from "./Child.ts"
import { LoadGenerator } from "./LoadGenerator.ts"
import { type Operation, operations } from "./Operation.ts"
import * as Rounds from "./Rounds.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { bare, reference } from "./Servers.ts"

const options = { rounds: 2, seconds: 0.05, warmUpSeconds: 0.05, connections: 8 }
const progress = new Progress(1, { write: () => undefined })

const [bareServer, ours] = await Promise.all([bare, reference].map((server) => ServerProcess.start(server)))
if (bareServer === undefined || ours === undefined) throw new Error("two were started")
const load = new LoadGenerator()
const field = { servers: [bareServer, ours], bare: bareServer, reference: ours, load }
afterAll(stopAll)

const operationOf = (name: string): Operation => {
  const operation = operations.find((operation) => operation.name === name)
  if (operation === undefined) throw new Error(`there is no ${name}`)
  return operation
}

describe("Rounds", () => {
  it.each(operations.map(({ name }) => name))("measures %s at the bare server and at ours", async (name) => {
    const { operation, servers } = await Rounds.measure(field, operationOf(name), options, progress)
    expect(operation).toBe(name)
    expect(servers.map(({ server }) => server)).toEqual([bare.name, reference.name])
    for (const { cpuMicros, latency, peakBytes, perSecond, ratio } of servers) {
      expect(cpuMicros.min).toBeGreaterThan(0)
      expect(perSecond.min).toBeGreaterThan(0)
      expect(latency.p50.median).toBeLessThanOrEqual(latency.p999.median)
      expect(peakBytes).toBeGreaterThan(2 ** 20)
      expect(ratio.median).toBeGreaterThan(0)
    }
    expect(servers[0]?.ratio).toEqual({ median: 1, min: 1, max: 1 })
  })

  it("takes no time of a server whose answer is wrong", async () => {
    const wrong = { ...operationOf("get"), fault: () => "it is somebody else's" }
    await expect(Rounds.measure(field, wrong, options, progress)).rejects.toThrow(
      "AnimalStore memory answers get wrongly: it is somebody else's"
    )
    await expect(Rounds.measure(field, { ...wrong, status: 204 }, options, progress)).rejects.toThrow(
      "the status is 200"
    )
  })

  it("counts nothing where other answers come than were asked for", async () => {
    await expect(
      load.carryOut(ours, { ...operationOf("get"), status: 404 }, { connections: 2, seconds: 0.05 })
    ).rejects.toThrow(/^get at AnimalStore memory: (\d+) of \1 answers had another status than 404$/)
  })

  it("sends at a constant rate", async () => {
    const sent = { connections: 8, seconds: 0.5, rate: 200 }
    const { requests } = await load.carryOut(ours, operationOf("get"), sent)
    expect(requests).toBeGreaterThan(50)
    expect(requests).toBeLessThanOrEqual(101)
  })
})
