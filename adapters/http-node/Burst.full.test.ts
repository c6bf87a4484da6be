/**
 * Sends thousands of requests at the same moment, each within the limits of its key, to a server with the memory that
 * `docs/deploying/animal-store.service` gives it.
 */

import * as http from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import * as Attack from "../cli/Attack.fixture.ts"
import { AttackedServer, canWatch } from "../cli/AttackedServer.fixture.ts"
import * as Burst from "../cli/Burst.fixture.ts"
import { countPets, exchange, PoliteClient } from "../cli/PoliteClient.fixture.ts"

const MB = 1_000_000
const MAX_RSS_MB = 450
/** Of the bodies: 250 MB of it are the sockets and parsers of 8,000 connections, and pages that malloc keeps. */
const MAX_BODIES_RSS_MB = 550
const MAX_POLITE_MS = 250
/** V8's heap limit in a cgroup of 600 MB. */
const HEAP_MB = 365
const BODY_BYTES = 65_000
const REPETITIONS = Attack.isFull ? 3 : 1

const databases = ["memory", "SQLite", "PostgreSQL"] as const

const request = (start: string, key: string, headers: ReadonlyArray<string>, body = ""): string =>
  [`${start} HTTP/1.1`, "Host: animals.example", `Authorization: Bearer ${key}`, ...headers, "", body].join(
    "\r\n"
  )

const createLongNames = async ({ key, origin }: AttackedServer): Promise<void> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  const body = JSON.stringify({ name: "🐈".repeat(255), categoryId: 1 })
  const create = () => exchange(agent, { url: `${origin}/v1/pets`, key, body })
  const created = await Promise.all(Array.from({ length: 100 }, create))
  expect(created.every(({ status }) => status === 201)).toBe(true)
  agent.destroy()
}

/** Sends a burst while a polite client measures; checks memory, latency, and that each request has a response. */
const observe = async (
  title: string,
  server: AttackedServer,
  burst: Burst.Burst,
  maxRssMb = MAX_RSS_MB
): Promise<Burst.BurstOutcome> => {
  const endWatch = server.watch()
  const polite = new PoliteClient(server.origin, server.key)
  const outcome = await Burst.send(server.port, burst)
  await sleep(1_000)
  const served = await polite.stop()
  const peakMb = endWatch() / MB
  Attack.report(title, {
    "peak MB": peakMb,
    "polite p99 ms": served.p99,
    seconds: outcome.ms / 1_000,
    statuses: JSON.stringify(outcome.statuses)
  })
  expect(server.isAlive, server.log).toBe(true)
  expect(outcome.unanswered).toBe(0)
  expect(outcome.incomplete503).toBe(0)
  expect(served.failures).toBe(0)
  expect(served.p99).toBeLessThanOrEqual(MAX_POLITE_MS)
  if (canWatch) expect(peakMb).toBeLessThanOrEqual(maxRssMb)
  return outcome
}

for (let repetition = 1; repetition <= REPETITIONS; repetition++) {
  const lists = `4,000 lists of 100 animals with long names at once (${repetition})`
  Attack.describeOn(databases, lists, (create) => {
    it("are all served whole", { retry: 1, timeout: Attack.TIMEOUT_MS }, async () => {
      const business = Array(4).fill(["--issue-key", "business"]).flat()
      const server = await AttackedServer.start({
        database: await create(),
        heapMb: HEAP_MB,
        arguments: ["--issue-key", Attack.UNLIMITED, ...business]
      })
      await createLongNames(server)
      const outcome = await observe(lists, server, {
        connections: 4_000,
        requests: server.keys.slice(1).map((key) => request("GET /v1/pets?limit=100", key, [])),
        timeoutMs: 60_000
      })
      expect(outcome.statuses).toEqual({ "200": 4_000 })
    })
  })

  const bodies = `8,000 POSTs of 65 kB that withhold their last byte, half of them for ever (${repetition})`
  Attack.describeOn(databases, bodies, (create) => {
    it("get a 201, or an error that allows a retry", { retry: 1, timeout: Attack.TIMEOUT_MS }, async () => {
      const server = await AttackedServer.start({
        database: await create(),
        heapMb: HEAP_MB,
        arguments: [
          "--issue-key",
          Attack.UNLIMITED,
          "--issue-key",
          "Enterprise:perMinute=20000,perDay=1000000"
        ]
      })
      const headers = ["Content-Type: application/json", `Content-Length: ${BODY_BYTES}`]
      const body = '{"name":"x","categoryId":1}'.padEnd(BODY_BYTES)
      const { statuses } = await observe(
        bodies,
        server,
        {
          connections: 8_000,
          requests: [request("POST /v1/pets", server.keys[1] ?? "", headers, body)],
          withholdMs: 500,
          incomplete: 4_000,
          timeoutMs: 60_000
        },
        MAX_BODIES_RSS_MB
      )
      const { "201": created = 0, "408": late = 0, "503": rejected = 0 } = statuses
      expect(created + late + rejected).toBe(8_000)
      expect(await countPets(server.origin, server.key)).toBe(created)
    })
  })
}
