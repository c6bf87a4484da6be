/** Checks that the memory of a server does not grow under a long load of clients with a key. */
import { expect, it } from "vitest"
import * as Attack from "../cli/Attack.fixture.ts"
import { AttackedServer } from "../cli/AttackedServer.fixture.ts"
import * as HostileLoad from "../cli/HostileLoad.fixture.ts"

const SAMPLES = 12
const SAMPLE_SECONDS = Attack.isFull ? 10 : 2
const CONNECTIONS = 64

/** Maximum growth over the second half, as a share of the memory in use; memory that does not grow varies a little. */
const MAX_GROWTH = 0.02

/** Returns the rise of the least-squares line through samples, from the first to the last. */
const riseOf = (samples: ReadonlyArray<number>): number => {
  const middle = (samples.length - 1) / 2
  const sum = (of: (value: number, index: number) => number) =>
    samples.reduce((total, value, index) => total + of(value, index), 0)
  const slope = sum((value, index) => (index - middle) * value) / sum((_, index) => (index - middle) ** 2)
  return slope * (samples.length - 1)
}

it("riseOf returns the rise of a straight line, and 0 for samples that rise and fall", () => {
  expect(riseOf([100, 115, 130])).toBe(30)
  expect(riseOf([100, 120, 120, 100])).toBeCloseTo(0)
})

Attack.describeOn(["memory", "SQLite", "PostgreSQL"], "a server under a load of reads", (create) => {
  it("uses at most 2% more memory at the end than in the middle", {
    retry: 1,
    timeout: Attack.TIMEOUT_MS
  }, async () => {
    const server = await AttackedServer.start({
      database: await create(),
      arguments: ["--issue-key", Attack.UNLIMITED]
    })
    const authorization = `Authorization: Bearer ${server.key}`
    for (let created = 0; created < 100; created++) {
      const response = await fetch(`${server.origin}/v1/pets`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
        body: `{"name":"Rex","categoryId":${created}}`
      })
      expect(response.status).toBe(201)
      await response.arrayBuffer()
    }
    const targets = ["/v1/pets", "/v1/pets/7"]
    const memory: Array<number> = []
    let responses = 0
    while (memory.length < SAMPLES) {
      const outcome = await HostileLoad.apply(server.port, {
        connections: CONNECTIONS,
        seconds: SAMPLE_SECONDS,
        request: HostileLoad.get(targets[memory.length % targets.length] ?? "", authorization),
        pipelined: 1,
        reading: "before sending again"
      })
      expect(outcome.serverErrors).toBe(0)
      responses += outcome.responses
      const inspection = await server.inspect()
      memory.push(inspection?.memory ?? Number.NaN)
    }
    const secondHalf = memory.slice(SAMPLES / 2)
    const growth = riseOf(secondHalf) / (secondHalf[0] ?? Number.NaN)
    Attack.report("soak", { responses, "MB in use": (memory.at(-1) ?? 0) / 1e6, "growth %": growth * 100 })
    expect(responses).toBeGreaterThan(0)
    expect(growth).toBeLessThanOrEqual(MAX_GROWTH)
  })
})
