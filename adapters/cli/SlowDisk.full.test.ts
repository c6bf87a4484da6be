/** Tests a server on SQLite whose disk stalls for six seconds. */
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import * as SlowDisk from "../sql/SlowDisk.fixture.ts"
import { start, stop } from "./Serve.fixture.ts"

const STALL_MS = 6_000
const TIMEOUT_MS = 1_000

/** Maximum milliseconds for a response: two timeouts, plus a margin for other tests on this machine. */
const LATEST_MS = 2 * TIMEOUT_MS + 1_000

interface Exchange {
  readonly status: number
  readonly ms: number
  readonly id: number | undefined
}

const serve = async (disk: SlowDisk.SlowDisk) => {
  const server = await start(
    [
      ...["--json", "--port", "0", "--database", `sqlite:${path.join(disk.directory, "animals.db")}`],
      ...[
        "--database-timeout",
        `${TIMEOUT_MS}ms`,
        "--issue-key",
        "Enterprise:perMinute=1000000,perDay=1000000"
      ]
    ],
    disk.environment
  )
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  const { key, url } = server
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
  const send = async (target: string | URL, init: RequestInit): Promise<Exchange> => {
    const startedAt = performance.now()
    const response = await fetch(target, init)
    const body: unknown = await response.json().catch(() => undefined)
    const id =
      response.status === 201 && typeof body === "object" && body !== null
        ? Reflect.get(body, "id")
        : undefined
    return { status: response.status, ms: performance.now() - startedAt, id }
  }
  return {
    create: () => send(`${url}/pets`, { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' }),
    list: () => send(`${url}/pets`, { headers }),
    probe: (name: "livez" | "readyz") => send(new URL(`/${name}`, url), {})
  }
}

/** Sends requests in sequence until `performance.now()` reaches `end`. */
const sendUntil = async (end: number, pauseMs: number, send: () => Promise<Exchange>) => {
  const exchanges: Array<Exchange> = []
  while (performance.now() < end) {
    exchanges.push(await send())
    await sleep(pauseMs)
  }
  return exchanges
}

const longestMs = (exchanges: ReadonlyArray<Exchange>) => Math.max(...exchanges.map(({ ms }) => ms))
const statuses = (exchanges: ReadonlyArray<Exchange>) => new Set(exchanges.map(({ status }) => status))

const title = "a server on SQLite whose disk stalls for six seconds"
const reason = SlowDisk.missing === undefined ? "" : ` (skipped, ${SlowDisk.missing})`

describe.skipIf(SlowDisk.missing !== undefined)(`${title}${reason}`, () => {
  it("responds to every request in time, recovers, and loses no animal", async () => {
    const disk = SlowDisk.create()
    onTestFinished(() => fs.rmSync(disk.directory, { recursive: true, force: true }))
    const server = await serve(disk)
    const before = await Promise.all(Array.from({ length: 20 }, server.create))
    expect(statuses(before)).toEqual(new Set([201]))

    disk.stall()
    const end = performance.now() + STALL_MS
    // The clients stop early enough that their last creates time out before the disk resumes.
    const lastCreate = end - LATEST_MS
    setTimeout(disk.resume, STALL_MS)
    const runClients = <A>(count: number, client: () => Promise<ReadonlyArray<A>>) =>
      Promise.all(Array.from({ length: count }, client)).then((lists) => lists.flat())
    const [liveness, creations, listings, readiness] = await Promise.all([
      sendUntil(end, 20, () => server.probe("livez")),
      runClients(8, () => sendUntil(lastCreate, 20, server.create)),
      runClients(8, () => sendUntil(end, 20, server.list)),
      sendUntil(end, 500, () => server.probe("readyz"))
    ])

    expect(statuses(liveness)).toEqual(new Set([200]))
    expect(liveness.length).toBeGreaterThan(STALL_MS / 100)
    const times = liveness.map(({ ms }) => ms).sort((a, b) => a - b)
    expect(times[Math.floor(times.length * 0.95)]).toBeLessThan(100)
    expect(longestMs(liveness)).toBeLessThan(TIMEOUT_MS)
    expect(statuses(creations)).toEqual(new Set([503]))
    expect(longestMs(creations)).toBeLessThan(LATEST_MS)
    expect([200, 503]).toEqual(expect.arrayContaining([...statuses(listings)]))
    expect(longestMs(listings)).toBeLessThan(LATEST_MS)
    expect(statuses(readiness).has(503)).toBe(true)
    expect(longestMs(readiness)).toBeLessThan(LATEST_MS)

    const after = [await server.create()]
    while (after.at(-1)?.status !== 201 && after.length < 50) {
      await sleep(50)
      after.push(await server.create())
    }
    expect((await server.list()).status).toBe(200)
    while ((await server.probe("readyz")).status !== 200) await sleep(200)

    const database = new DatabaseSync(path.join(disk.directory, "animals.db"), { readOnly: true })
    const stored = new Set(
      database
        .prepare("SELECT id FROM pets")
        .all()
        .map(({ id }) => id)
    )
    database.close()
    const acknowledged = [...before, ...after].flatMap(({ id }) => id ?? [])
    expect(acknowledged.length).toBeGreaterThan(before.length)
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    // A create with status 503 is stored only if its group of writes had started before the deadline.
    expect(stored.size).toBeLessThanOrEqual(acknowledged.length + 8)
  })
})
