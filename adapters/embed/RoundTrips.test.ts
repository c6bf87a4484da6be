/** Counts the PostgreSQL round trips per request. One round trip takes longer than all other work of the service. */
import { Buffer } from "node:buffer"
import type { Socket } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as FaultyNetwork from "./FaultyNetwork.fixture.ts"
import { openAnimalStore } from "./index.ts"

/** Type byte of ReadyForQuery, the last message of each round trip. */
const READY_FOR_QUERY = 0x5a

/** Counts ReadyForQuery messages. A message is a type byte, a 4-byte length that includes itself, and the content. */
class RoundTripCounter {
  count = 0
  readonly #unread = new Map<Socket, Buffer>()

  read(connection: Socket, chunk: Buffer): void {
    let unread = Buffer.concat([this.#unread.get(connection) ?? Buffer.alloc(0), chunk])
    while (unread.length >= 5 && unread.length > unread.readUInt32BE(1)) {
      if (unread[0] === READY_FOR_QUERY) this.count++
      unread = unread.subarray(1 + unread.readUInt32BE(1))
    }
    this.#unread.set(connection, unread)
  }
}

const open = async () => {
  const counter = new RoundTripCounter()
  const url = new URL((await Databases.createForTest(Databases.postgres)).address)
  const network = await FaultyNetwork.make(
    url.hostname,
    Number(url.port === "" ? 5432 : url.port),
    (connection, chunk) => counter.read(connection, chunk)
  )
  onTestFinished(network.close)
  url.hostname = "127.0.0.1"
  url.port = String(network.port)
  const store = await openAnimalStore({ database: url.href, databaseConnections: 1 })
  onTestFinished(() => store.close())
  const issue = async (perMinute: number) =>
    (await store.keys.issue({ plan: "Enterprise", limits: { perMinute, perDay: 1_000 } })).key

  /** Waits until the first use of each key on this day is stored, which happens in the background. */
  const settle = () =>
    expect
      .poll(async () => (await store.keys.list()).every(({ lastSeenDay }) => lastSeenDay !== undefined), {
        timeout: 60_000
      })
      .toBe(true)

  /** Sends a request, expects `status`, and returns the number of round trips. */
  const countRoundTrips = async (
    status: number,
    key: string,
    target: string,
    body?: string
  ): Promise<number> => {
    const before = counter.count
    const response = await store.fetch(
      new Request(`http://store.test/v1${target}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body })
      })
    )
    expect(response.status).toBe(status)
    return counter.count - before
  }
  return { countRoundTrips, issue, settle }
}

const rex = '{"name":"Rex","categoryId":7}'

Databases.describeOn(Databases.postgres, "a request", () => {
  it("needs two round trips if its key is cached: one for the rate limit and one for the operation", async () => {
    const { countRoundTrips, issue, settle } = await open()
    const key = await issue(1_000)
    // Warm-up: the first requests read the key and prepare the statements.
    await countRoundTrips(201, key, "/pets", rex)
    await countRoundTrips(200, key, "/pets")
    await countRoundTrips(200, key, "/pets?status=sold")
    await countRoundTrips(200, key, "/pets/1")
    await settle()
    for (let count = 0; count < 3; count++) {
      expect(await countRoundTrips(200, key, "/pets")).toBe(2)
      expect(await countRoundTrips(200, key, "/pets?limit=5&status=available")).toBe(2)
      expect(await countRoundTrips(200, key, "/pets/1")).toBe(2)
      expect(await countRoundTrips(404, key, "/pets/9000")).toBe(2)
      expect(await countRoundTrips(201, key, "/pets", rex)).toBe(2)
    }
  })

  it("needs one round trip if it is rejected before its operation, or two if its key is unknown", async () => {
    const { countRoundTrips, issue, settle } = await open()
    const key = await issue(1_000)
    const exhausted = await issue(1)
    await countRoundTrips(200, key, "/pets")
    await countRoundTrips(200, exhausted, "/pets")
    await settle()
    // Rejected by validation or by the limit: one round trip for the rate limit.
    expect(await countRoundTrips(400, key, "/pets?limit=0")).toBe(1)
    expect(await countRoundTrips(400, key, "/pets", "{}")).toBe(1)
    expect(await countRoundTrips(404, key, "/pets/none")).toBe(1)
    expect(await countRoundTrips(404, key, "/nothing")).toBe(1)
    expect(await countRoundTrips(429, exhausted, "/pets")).toBe(1)
    // Malformed key: one for the rate limit of the network, and no lookup.
    expect(await countRoundTrips(401, "ast_no", "/pets")).toBe(1)
    // Unknown key: one for the lookup and one for the rate limit of the network.
    await countRoundTrips(401, "ast_00000000000000000000000000010kADx", "/pets")
    expect(await countRoundTrips(401, "ast_00000000000000000000000000010kADx", "/pets")).toBe(2)
  })
})
