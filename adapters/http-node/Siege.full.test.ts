/**
 * Attacks servers that also serve a polite client. During the attack, their memory and the client's latency stay within
 * bounds; after it, they have released its resources. docs/security.md lists the bounds.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import * as Attack from "../cli/Attack.fixture.ts"
import { AttackedServer, canWatch } from "../cli/AttackedServer.fixture.ts"
import * as HostileLoad from "../cli/HostileLoad.fixture.ts"
import { PoliteClient, type PoliteFigures } from "../cli/PoliteClient.fixture.ts"

const MB = 1_000_000
const MAX_RSS_MB = 400
const MAX_POLITE_MS = 100
/** The bound of a short attack: with only a few hundred polite requests, one pause of the machine affects the p99. */
const MAX_POLITE_SHORT_MS = 300
/** On a busy machine, the latency may be this multiple of what it was before the attack. */
const MAX_POLITE_RATIO = 20

/** Maximum additional memory after the load in megabytes; the server's own caches take a few megabytes. */
const MAX_LEFT_MB = 24
const MAX_LEFT_HANDLES = 4

/** Milliseconds within which the server must release the load's resources. */
const RECOVERY_MS = 60_000
const WARM_UP_MS = 1_000

interface Siege {
  readonly title: string
  readonly databases: Parameters<typeof Attack.describeOn>[0]
  readonly load: (key: string) => Omit<HostileLoad.HostileLoad, "seconds">
  /** The durations of a whole and of a short attack. */
  readonly seconds: readonly [whole: number, short: number]
  readonly heapMb?: number
  readonly arguments?: ReadonlyArray<string>
  /** Checks the outcome of the load. */
  readonly check?: (outcome: HostileLoad.HostileOutcome) => void
}

const whole = (seconds: number): readonly [number, number] => [seconds, 3]

const THOUSAND = 1_000

/** Timeouts of the server in seconds: for the header section, and for a whole request. */
const HEADERS_SECONDS = 10
const REQUEST_SECONDS = 30
/** Additional seconds: timeouts are checked once a second, and a closed connection lingers for a second. */
const SLACK_SECONDS = 5

const slow = { connections: THOUSAND, pipelined: 1, reading: "while sending", byteIntervalMs: 500 } as const

/** A short attack ends before the timeouts. */
const expectAllClosed = ({ closed }: HostileLoad.HostileOutcome): void => {
  if (Attack.isFull) expect(closed).toBeGreaterThanOrEqual(THOUSAND)
}

const sieges: ReadonlyArray<Siege> = [
  {
    title: "20 connections that pipeline 60 kB POSTs without a key",
    databases: ["SQLite", "memory", "PostgreSQL"],
    load: () => ({
      connections: 20,
      request: HostileLoad.post(60_000),
      pipelined: 1,
      reading: "while sending"
    }),
    seconds: whole(60)
  },
  {
    title: "150 connections that pipeline GET /openapi.json and never read, with 512 MB of heap",
    databases: ["SQLite", "memory"],
    heapMb: 512,
    load: () => ({
      connections: 150,
      request: HostileLoad.get("/openapi.json"),
      pipelined: 500,
      reading: "never"
    }),
    seconds: whole(60)
  },
  {
    title: "1,000 connections that pipeline small GETs without a key and read",
    databases: ["SQLite", "memory", "PostgreSQL"],
    load: () => ({
      connections: THOUSAND,
      request: HostileLoad.get("/v1/pets"),
      pipelined: 200,
      reading: "while sending"
    }),
    seconds: whole(60)
  },
  {
    title: "1,000 connections that pipeline 60 kB POSTs without a key",
    databases: ["SQLite", "memory", "PostgreSQL"],
    load: () => ({
      connections: THOUSAND,
      request: HostileLoad.post(60_000),
      pipelined: 1,
      reading: "while sending"
    }),
    seconds: whole(60)
  },
  {
    title: "1,000 connections that pipeline GET /openapi.json and never read",
    databases: ["SQLite", "memory"],
    load: () => ({
      connections: THOUSAND,
      request: HostileLoad.get("/openapi.json"),
      pipelined: 200,
      reading: "never"
    }),
    seconds: whole(60)
  },
  {
    title: "1,000 connections that send a header section byte by byte",
    databases: ["SQLite"],
    load: () => ({ ...slow, request: HostileLoad.get("/v1/pets", `X-Padding: ${"x".repeat(1_000)}`) }),
    seconds: whole(HEADERS_SECONDS + SLACK_SECONDS),
    check: expectAllClosed
  },
  {
    title: "1,000 connections with a key that send a body byte by byte",
    databases: ["SQLite"],
    load: (key) => {
      const bytes = HostileLoad.post(1_000, `Authorization: Bearer ${key}`)
      const [head = "", body = ""] = bytes.split("\r\n\r\n")
      return { ...slow, opening: `${head}\r\n\r\n`, request: body }
    },
    seconds: whole(REQUEST_SECONDS + SLACK_SECONDS),
    check: expectAllClosed
  },
  {
    title: "64 connections that send each request from a new network, with 128 MB of heap and 50,000 states",
    databases: ["memory", "SQLite", "PostgreSQL"],
    // With unlimited states, those of 416,000 networks, 371 bytes each, exhausted this heap.
    heapMb: 128,
    arguments: ["--trusted-proxy-hops", "1", "--max-anonymous-states", "50000"],
    load: () => ({
      connections: 64,
      request: HostileLoad.get("/v1/pets", "X-Forwarded-For: {address}"),
      pipelined: 10,
      reading: "before sending again"
    }),
    seconds: [60, 4],
    check: ({ responses, serverErrors }) => {
      expect(responses).toBeGreaterThan(0)
      expect(serverErrors).toBe(0)
    }
  }
]

interface Resources {
  readonly memory: number
  readonly handles: number
  readonly descriptors: number
}

const measureResources = async (server: AttackedServer): Promise<Resources> => {
  const { handles = Number.POSITIVE_INFINITY, memory = Number.POSITIVE_INFINITY } =
    (await server.inspect()) ?? {}
  return { memory, handles, descriptors: server.descriptors() }
}

/** Returns how much more the server holds than before, and at least 0. */
const leftOver = (before: Resources, after: Resources): Resources => ({
  memory: Math.max(0, after.memory - before.memory) / MB,
  handles: Math.max(0, after.handles - before.handles),
  descriptors: Math.max(0, after.descriptors - before.descriptors)
})

const isReleased = ({ descriptors, handles, memory }: Resources): boolean =>
  memory <= MAX_LEFT_MB && handles <= MAX_LEFT_HANDLES && descriptors <= MAX_LEFT_HANDLES

/** Waits until the load's resources are released, or for the timeout; returns what is left over then. */
const awaitRelease = async (server: AttackedServer, before: Resources): Promise<Resources> => {
  const until = performance.now() + RECOVERY_MS
  for (;;) {
    const left = leftOver(before, await measureResources(server))
    if (isReleased(left) || performance.now() > until) return left
    await sleep(250)
  }
}

/** Sends polite requests to a server that is not attacked. */
const warmUp = async (server: AttackedServer): Promise<PoliteFigures> => {
  const polite = new PoliteClient(server.origin, server.key)
  await sleep(WARM_UP_MS)
  const figures = await polite.stop()
  // The server detects the closed connection a little later.
  await sleep(100)
  return figures
}

for (const siege of sieges) {
  const { databases, heapMb, title } = siege
  Attack.describeOn(databases, title, (create) => {
    // Other load on the machine can delay clients for seconds; a leak or an unbounded queue fails both times.
    it("exceed no bound, and leave nothing behind", { retry: 1, timeout: Attack.TIMEOUT_MS }, async () => {
      const server = await AttackedServer.start({
        database: await create(),
        arguments: ["--issue-key", Attack.UNLIMITED, ...(siege.arguments ?? [])],
        ...(heapMb === undefined ? {} : { heapMb })
      })
      await warmUp(server)
      const idle = await warmUp(server)
      const before = await measureResources(server)
      const endWatch = server.watch()
      const polite = new PoliteClient(server.origin, server.key)
      const [fullSeconds, shortSeconds] = siege.seconds
      const seconds = Attack.isFull ? fullSeconds : shortSeconds
      const outcome = await HostileLoad.apply(server.port, { ...siege.load(server.key), seconds })
      const served = await polite.stop()
      const peakMb = endWatch() / MB
      expect(server.isAlive, server.log).toBe(true)
      const left = await awaitRelease(server, before)
      Attack.report(title, {
        "requests written": outcome.requests,
        "peak MB": peakMb,
        "polite p99 ms": served.p99,
        "MB left": left.memory,
        "handles left": left.handles,
        "descriptors left": left.descriptors
      })

      siege.check?.(outcome)
      if (canWatch) expect(peakMb).toBeLessThanOrEqual(MAX_RSS_MB)
      const bound = Attack.isFull ? MAX_POLITE_MS : MAX_POLITE_SHORT_MS
      expect(served.p99).toBeLessThanOrEqual(Math.max(bound, MAX_POLITE_RATIO * idle.p99))
      expect(served.failures).toBe(0)
      expect(left).toSatisfy(isReleased)
    })
  })
}
