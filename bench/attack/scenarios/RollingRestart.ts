/** Restarts servers on one database in turn, behind a load balancer, while clients read and write. */
import * as http from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { AttackedServer, UNLIMITED } from "../AttackedServer.ts"
import { Balancer } from "../Balancer.ts"
import { countPets, exchange } from "../Exchange.ts"
import * as Finding from "../Finding.ts"
import type { Scenario } from "../Scenario.ts"

const NODES = 3
const CLIENTS = 16
const POLL_MS = 100

/**
 * The drain time: more than twice the time that the balancer needs to notice a draining node (three polls 100 ms apart,
 * each with a timeout of 500 ms).
 */
const DRAIN = "5s"

/** Timeout of a restart in milliseconds; without it, a run with no ready node would never end. */
const READY_MS = 30_000

/** The totals of a run. */
export interface Tally {
  readonly requests: number
  /** Requests without a response from a server. */
  readonly lost: number
  /** The failures that the balancer recorded, with the milliseconds since the node received SIGTERM. */
  readonly failures: ReadonlyArray<string>
  /** Responses with 503: on a busy machine, calls to the shared database may exceed their deadline. */
  readonly unavailable: number
  /** Number of animals whose creation was acknowledged. */
  readonly acknowledged: number
  /** Animals in the database afterwards. */
  readonly stored: number
  readonly restarts: number
}

export const rollingRestart: Scenario = {
  name: "rolling-restart",
  description: `${NODES} servers (quick: 2) restarted in turn behind a balancer that polls /readyz, 100,000 requests (quick: 3,000)`,
  databases: ["SQLite", "PostgreSQL"],
  run: async ({ isQuick }, database) => {
    const plan = isQuick ? { nodes: 2, requests: 3_000 } : { nodes: NODES, requests: 100_000 }
    const tally = await run(await database.create(), plan)
    return [
      Finding.measured("restarts", tally.restarts),
      Finding.measured("requests", tally.requests),
      Finding.atMost("responses with 503", tally.unavailable, Math.floor(tally.requests / 100)),
      Finding.equal("requests lost", [tally.lost, ...tally.failures.slice(0, 5)].join(", "), "0"),
      Finding.equal("animals stored beyond those acknowledged", tally.stored - tally.acknowledged, 0)
    ]
  }
}

export interface Plan {
  readonly nodes: number
  /** Minimum number of requests to send. */
  readonly requests: number
}

/** Restarts the nodes in turn until `plan.requests` requests have been sent. */
export const run = async (database: string, plan: Plan): Promise<Tally> => {
  const first = await start(database, ["--issue-key", UNLIMITED])
  const key = first.keys[0] ?? ""
  const nodes = [first, ...(await Promise.all(Array.from({ length: plan.nodes - 1 }, () => start(database))))]
  const balancer = await Balancer.listen({ pollIntervalMs: POLL_MS })
  const load = new Load(balancer.origin, key)
  try {
    for (const { origin } of nodes) balancer.add(origin)
    await waitUntilReady(balancer, plan.nodes)
    load.start()
    let restarts = 0
    const stoppedAt = new Map<string, number>()
    do {
      for (const [index, node] of nodes.entries()) {
        if (!node.isAlive) throw new Error(`a server exited by itself: ${JSON.stringify(await node.exited)}`)
        stoppedAt.set(node.origin, performance.now())
        await node.stop("SIGTERM")
        balancer.remove(node.origin)
        const next = await start(database)
        nodes[index] = next
        balancer.add(next.origin)
        await waitUntilReady(balancer, plan.nodes)
        restarts++
      }
    } while (load.requests < plan.requests)
    const { acknowledged, lost, unavailable } = await load.stop()
    return {
      requests: load.requests,
      lost,
      failures: balancer.failures.map(({ at, message, origin }) => {
        const since = at - (stoppedAt.get(origin ?? "") ?? Number.NaN)
        return Number.isNaN(since) ? message : `${message} ${Math.round(since)} ms after SIGTERM`
      }),
      unavailable,
      acknowledged,
      stored: await countPets((nodes[0] ?? first).origin, key),
      restarts
    }
  } finally {
    await load.stop()
    await balancer.close()
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

const start = (database: string, given: ReadonlyArray<string> = []): Promise<AttackedServer> =>
  AttackedServer.start({ database, arguments: ["--drain", DRAIN, ...given] })

const waitUntilReady = async (balancer: Balancer, nodes: number): Promise<void> => {
  const until = performance.now() + READY_MS
  while (balancer.readyCount < nodes) {
    if (performance.now() > until) throw new Error("a restarted server did not become ready")
    await sleep(POLL_MS / 2)
  }
}

/** Clients that send requests in sequence, each on its own connection to the balancer. */
class Load {
  requests = 0
  #acknowledged = 0
  #lost = 0
  #unavailable = 0
  #isStopped = false
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS })
  readonly #origin: string
  readonly #key: string
  #done: Promise<unknown> = Promise.resolve()

  constructor(origin: string, key: string) {
    this.#origin = origin
    this.#key = key
  }

  start(): void {
    const sendUntilStopped = async (): Promise<void> => {
      while (!this.#isStopped) {
        const index = this.requests++
        const { status } = await exchange(
          this.#agent,
          index % 2 === 0
            ? { url: `${this.#origin}/v1/pets`, key: this.#key, body: `{"name":"Rex","categoryId":${index}}` }
            : { url: `${this.#origin}/v1/pets?limit=1`, key: this.#key }
        )
        if (status === 201) this.#acknowledged++
        else if (status === 503) this.#unavailable++
        else if (status !== 200) this.#lost++
      }
    }
    this.#done = Promise.all(Array.from({ length: CLIENTS }, sendUntilStopped))
  }

  async stop(): Promise<Pick<Tally, "acknowledged" | "lost" | "unavailable">> {
    this.#isStopped = true
    await this.#done
    this.#agent.destroy()
    return { acknowledged: this.#acknowledged, lost: this.#lost, unavailable: this.#unavailable }
  }
}
