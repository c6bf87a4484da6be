/** Tests that every measured server responds like this project's server; otherwise figures could not be compared. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stopAll } from "../Child.ts"
import * as Databases from "../Databases.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { all, bare, reference, unavailableReason } from "./Servers.ts"
import * as Verification from "./Verification.ts"
import * as Wire from "./Wire.ts"
import * as Workload from "./Workload.ts"

const databases = await Databases.open(true)
const peers = all.filter(
  (server) => server !== bare && server !== reference && unavailableReason(server, databases) === undefined
)

const sizes = { mix: 150, alone: 15 }
const workloads = [Workload.mix, ...Workload.operations]

const samples = new Map<string, Verification.Sample>()

beforeAll(async () => {
  const ours = await ServerProcess.start(reference)
  for (const workload of workloads) {
    const count = workload === Workload.mix ? sizes.mix : sizes.alone
    samples.set(workload.name, await Verification.record(ours, workload, count))
  }
  await ours.stop()
})
afterAll(async () => {
  await stopAll()
  await databases.remove()
})

/** Requests a list from a server, and returns the response with its headers. */
const list = ({ address: { port, tokens } }: ServerProcess, sender: Workload.Sender): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/v1/pets`, {
    headers: { authorization: Wire.authorizationOf(sender, tokens) ?? "" }
  })

describe.each(peers)("$name", (peer) => {
  it("responds to every kind of request like this project's server, and sends rate-limit headers", async () => {
    const server = await ServerProcess.startOn(databases, peer, {})
    for (const { name } of workloads) {
      const sample = samples.get(name) ?? { requests: [], responses: [] }
      expect(sample.requests.length, name).toBeGreaterThan(0)
      await Verification.check(server, sample, sample.requests.length)
    }
    expect((await server.usage()).cpuMicros).toBeGreaterThan(0)

    const admitted = await list(server, { kind: "unlimited", index: 0 })
    expect(admitted.status).toBe(200)
    expect(admitted.headers.get("content-type")).toMatch(/^application\/json/)
    expect([...admitted.headers.keys()].join(" ")).toMatch(/ratelimit/)
    // The first request may be admitted, because it may be the first one of a new minute.
    await list(server, { kind: "exhausted", index: 0 })
    const denied = await list(server, { kind: "exhausted", index: 0 })
    expect(denied.status).toBe(429)
    expect(Number(denied.headers.get("retry-after"))).toBeGreaterThan(0)
    await server.stop()
  })
})
