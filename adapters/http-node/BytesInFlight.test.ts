/** Checks that responses and bodies of all connections share one budget of bytes. */
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { expectError, Gate, serve, serveLongNames } from "./Server.fixture.ts"
import { pet, request, statuses, Wire, type WireResponse } from "./Wire.fixture.ts"

/** The smallest budget: six lists of 100 animals, or 17 bodies of 60,000 bytes; one key gets at most half of it. */
const server = { maxBytesInFlight: 1_048_576 }

const list = (key: string) => request({ key, target: "/v1/pets?limit=100" })
const post = (key: string) => request({ key, body: pet("Rex").padEnd(60_000) })

/** Opens connections that send all but the last byte of a POST. */
const openIncomplete = (port: number, key: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => Wire.openAndSend(port, post(key).slice(0, -1))))

describe("lists of one key", () => {
  it("run a few at a time, and all get a whole response", async () => {
    let [inFlight, maxInFlight] = [0, 0]
    const { key, port } = await serveLongNames({
      server,
      pets: (real) => ({
        ...real,
        page: (query) => {
          maxInFlight = Math.max(maxInFlight, ++inFlight)
          return Effect.tap(Effect.andThen(Effect.yieldNow, real.page(query)), () =>
            Effect.sync(() => inFlight--)
          )
        }
      })
    })
    const wires = await Promise.all(Array.from({ length: 40 }, () => Wire.openAndSend(port, list(key))))
    for (const wire of wires) {
      const response = await wire.response()
      expect([response.status, JSON.parse(response.body).length]).toEqual([200, 100])
    }
    expect(maxInFlight).toBeLessThanOrEqual(3)
  })

  it("that their clients do not read leave room for other keys", async () => {
    const { issue, key: hog, port } = await serveLongNames({ server })
    const polite = await issue()
    for (let count = 0; count < 6; count++) await Wire.openAndSend(port, list(hog).repeat(100))
    // The buffers of the sockets fill up meanwhile.
    for (let count = 0; count < 50; count++) {
      const wire = await Wire.openAndSend(port, list(polite))
      expect((await wire.response()).status).toBe(200)
    }
  })
})

describe("a request whose head arrives after its 408", () => {
  it("is not executed", async () => {
    const { countPets, key, port } = await serve({ server: { headersTimeoutMs: 100 } })
    const bytes = request({ key, body: pet("Rex") })
    const wire = await Wire.openAndSend(port, bytes.slice(0, 20))
    expect(await statuses(wire, 1)).toEqual([408])
    await wire.send(bytes.slice(20))
    expect(await wire.rest()).toBe("")
    expect(await countPets()).toBe(0)
    const late = await Wire.open(port)
    expect(await statuses(late, 1)).toEqual([408])
    await late.send(bytes)
    expect(await late.rest()).toBe("")
    expect(await countPets()).toBe(0)
  })
})

describe("bodies that are not complete", () => {
  it("wait if their key holds as much as is left for others, then get a 503; all others get a 201", async () => {
    const { countPets, issue, key: hog, port } = await serve({ server })
    const polite = await issue()
    // At most nine are read and at most four wait; the others are rejected at once, because their first bytes are in memory.
    const missing = new Set(await openIncomplete(port, hog, 17))
    const settled: Array<readonly [Wire, WireResponse]> = []
    for (const wire of missing) {
      void wire.response().then((response) => {
        settled.push([wire, response])
        missing.delete(wire)
      })
    }
    await expect.poll(() => settled.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(4)
    const [other] = await openIncomplete(port, polite, 1)
    await other?.send(" ")
    expect((await other?.response())?.status).toBe(201)
    // Rejected bodies make room for those that wait, and for lists.
    const wire = await Wire.openAndSend(port, request({ key: hog }))
    expect(await statuses(wire, 1)).toEqual([200])
    for (const [rejected, response] of [...settled]) {
      expectError(response, 503, "service_unavailable")
      expect(response.header("retry-after")).toBe("5")
      // The connection remains usable.
      await rejected.send(` ${request({ key: polite })}`)
      expect(await statuses(rejected, 1)).toEqual([200])
    }
    // No store failed.
    expect(await statuses(await Wire.openAndSend(port, request({ target: "/readyz" })), 1)).toEqual([200])
    for (const incomplete of [...missing]) await incomplete.send(" ")
    await expect.poll(() => settled.length, { timeout: 20_000 }).toBe(17)
    const created = settled.filter(([, { status }]) => status === 201).length
    expect(created).toBeGreaterThan(0)
    expect(settled.filter(([, { status }]) => status === 503)).toHaveLength(17 - created)
    expect(await countPets()).toBe(created + 1)
  })

  it("release their bytes when their connections close", async () => {
    const { key, port } = await serve({ server })
    const reading = await openIncomplete(port, key, 9)
    const waiting = await openIncomplete(port, key, 1)
    for (const wire of reading) wire.abort()
    for (const wire of [...waiting, ...(await openIncomplete(port, key, 7))]) {
      await wire.send(" ")
      expect((await wire.response()).status).toBe(201)
    }
  })

  it("get a 503 that closes the connection if keepAliveTimeoutMs is 0, even before their caller is admitted", async () => {
    const gate = new Gate()
    const { key, port } = await serve({
      limits: gate.limits,
      server: { ...server, keepAliveTimeoutMs: 0 }
    })
    // Five fill the quarter of the budget for bodies whose caller is not admitted.
    const wires = await openIncomplete(port, key, 30)
    const response = await Promise.race(wires.map((wire) => wire.response()))
    expectError(response, 503, "service_unavailable")
    expect(response.header("connection")).toBe("close")
    gate.open()
  })

  it("do not delay a body that arrives together with its head", async () => {
    const { key, port } = await serve({ server })
    await openIncomplete(port, key, 20)
    const wire = await Wire.openAndSend(port, request({ key, body: pet("Rex") }))
    expect(await statuses(wire, 1)).toEqual([201])
  })
})
