/** Attacks a server that also serves a polite client; after the attack, the server must have released its resources. */
import { setTimeout as sleep } from "node:timers/promises"
import { AttackedServer, canWatch, UNLIMITED } from "./AttackedServer.ts"
import * as Finding from "./Finding.ts"
import * as HostileLoad from "./HostileLoad.ts"
import { PoliteClient } from "./PoliteClient.ts"
import type { Database, RunOptions } from "./Scenario.ts"
import { Watch } from "./Watch.ts"

export interface Siege {
  readonly load: (key: string) => HostileLoad.HostileLoad
  readonly heapMb?: number
  readonly arguments?: ReadonlyArray<string>
  /** Returns additional findings about the load. */
  readonly findings?: (outcome: HostileLoad.HostileOutcome) => ReadonlyArray<Finding.Finding>
}

const MAX_RSS_MB = 400
const MAX_POLITE_MS = 100
/** The bound of a quick run: with only a few hundred polite requests, one pause of the machine affects the p99. */
const MAX_POLITE_QUICK_MS = 300

/** Maximum additional memory after the load in megabytes; the server's own caches take a few megabytes. */
const MAX_LEFT_MB = 24
const MAX_LEFT_HANDLES = 4

/** Milliseconds within which the server must release the load's resources. */
const RECOVERY_MS = 10_000
const WARM_UP_MS = 1_000
const MB = 1_000_000

export const run = async (
  siege: Siege,
  { isQuick }: RunOptions,
  database: Database
): Promise<ReadonlyArray<Finding.Finding>> => {
  const server = await AttackedServer.start({
    database: await database.create(),
    arguments: ["--issue-key", UNLIMITED, ...(siege.arguments ?? [])],
    ...(siege.heapMb === undefined ? {} : { heapMb: siege.heapMb })
  })
  try {
    const key = server.keys[0] ?? ""
    await sendPolitely(WARM_UP_MS, server, key)
    const before = await measureResources(server)

    const watch = new Watch(server)
    const polite = new PoliteClient(server.origin, key)
    const [outcome, served] = await HostileLoad.apply(server.port, siege.load(key))
      .then(async (outcome) => [outcome, await polite.stop()] as const)
      .finally(async () => {
        watch.stop()
        await polite.stop()
      })
    const isAlive = server.isAlive
    const after = isAlive ? await awaitRecovery(server, before) : before

    return [
      Finding.measured("hostile requests written to sockets", outcome.requests),
      Finding.equal("server", isAlive ? "alive" : "exited", "alive"),
      ...(siege.findings?.(outcome) ?? []),
      canWatch
        ? Finding.atMost("peak RSS", watch.peakRss / MB, MAX_RSS_MB, "MB")
        : Finding.unknown("peak RSS", "no /proc"),
      Finding.atMost("polite p99", served.p99, isQuick ? MAX_POLITE_QUICK_MS : MAX_POLITE_MS, "ms"),
      Finding.equal("polite requests that failed", served.failures, 0),
      ...(isAlive ? leftOver(before, after) : [])
    ]
  } finally {
    await server.stop()
  }
}

interface Resources {
  readonly memory: number
  readonly handles: number
  readonly descriptors: number
}

const measureResources = async (server: AttackedServer): Promise<Resources> => {
  const inspection = await server.inspect()
  return {
    memory: inspection?.memory ?? Number.POSITIVE_INFINITY,
    handles: inspection?.handles ?? Number.POSITIVE_INFINITY,
    descriptors: server.descriptors()
  }
}

const sendPolitely = async (ms: number, server: AttackedServer, key: string): Promise<void> => {
  const polite = new PoliteClient(server.origin, key)
  await sleep(ms)
  await polite.stop()
  // Waits until the server has noticed the closed connection.
  await sleep(100)
}

/** Waits until the load's resources are released, or for the timeout; returns what resources the server holds then. */
const awaitRecovery = async (server: AttackedServer, before: Resources): Promise<Resources> => {
  const until = performance.now() + RECOVERY_MS
  for (;;) {
    const now = await measureResources(server)
    if (leftOver(before, now).every(({ isWithinBound }) => isWithinBound) || performance.now() > until)
      return now
    await sleep(250)
  }
}

const leftOver = (before: Resources, after: Resources): ReadonlyArray<Finding.Finding> => [
  Finding.atMost("memory left over", Math.max(0, after.memory - before.memory) / MB, MAX_LEFT_MB, "MB"),
  Finding.atMost("handles left over", Math.max(0, after.handles - before.handles), MAX_LEFT_HANDLES),
  canWatch
    ? Finding.atMost(
        "descriptors left over",
        Math.max(0, after.descriptors - before.descriptors),
        MAX_LEFT_HANDLES
      )
    : Finding.unknown("descriptors left over", "no /proc")
]
