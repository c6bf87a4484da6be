/** Every measured server answers every measured request rightly; a figure of one that does not would mean nothing. */
import { describe, expect, it } from "vitest"
import { operations } from "./Operation.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { bare, type Server } from "./Servers.ts"

const peers = [
  { file: "AnimalStore", arguments: ["memory:"] },
  { file: "AnimalStoreFetch", arguments: ["memory:"] },
  { file: "Handwritten", arguments: [] },
  { file: "Fastify", arguments: [] },
  { file: "Express", arguments: [] },
  { file: "Hono", arguments: [] },
  { file: "HttpApi", arguments: [] }
].map((peer): Server => ({ ...bare, ...peer, name: peer.file }))

const tellsLimit = (response: Response): boolean =>
  [...response.headers.keys()].some((name) => /^(x-)?ratelimit/.test(name))

describe("the peers", () => {
  it.each(peers)("$name answers every operation rightly", async (peer) => {
    const { name } = peer
    const server = await ServerProcess.start(peer)
    try {
      for (const operation of operations) {
        // What the exhausted caller may send in a minute.
        if (operation.status === 429) expect((await server.send(operation)).status).toBe(200)

        const response = await server.send(operation)
        const answer = `${name}, ${operation.name}`
        expect(response.status, answer).toBe(operation.status)
        expect(operation.fault(await response.json()), answer).toBeUndefined()
        expect(response.headers.get("content-type"), answer).toMatch(/^application\/json/)
        expect(Number(response.headers.get("content-length")), answer).toBeGreaterThan(0)
        if (operation.status !== 401) expect(tellsLimit(response), answer).toBe(true)
        if (operation.status === 429) {
          expect(Number(response.headers.get("retry-after")), answer).toBeGreaterThan(0)
        }
      }
      expect((await server.usage()).cpuMicros).toBeGreaterThan(0)
    } finally {
      await server.stop()
    }
  })
})
