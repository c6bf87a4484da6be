/** Restarts servers on one database in turn, behind a load balancer, while clients read and write. */
import * as http from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import * as Attack from "./Attack.fixture.ts"
import { AttackedServer } from "./AttackedServer.fixture.ts"
import { Balancer } from "./Balancer.fixture.ts"
import { countPets, exchange } from "./PoliteClient.fixture.ts"

const NODES = Attack.isFull ? 3 : 2
const REQUESTS = Attack.isFull ? 100_000 : 3_000
const CLIENTS = 16
const POLL_MS = 100

/**
 * The drain time: more than twice the time that the balancer needs to detect a draining node (three polls 100 ms apart,
 * each with a timeout of 500 ms).
 */
const DRAIN = "5s"

/** Timeout of a restart in milliseconds; without it, a run with no ready node would never end. */
const READY_MS = 120_000

const start = (database: string, given: ReadonlyArray<string> = []): Promise<AttackedServer> =>
  AttackedServer.start({ database, arguments: ["--drain", DRAIN, "--database-timeout", "30s", ...given] })

const waitUntilReady = async (balancer: Balancer): Promise<void> => {
  const until = performance.now() + READY_MS
  while (balancer.readyCount < NODES) {
    if (performance.now() > until) throw new Error("a restarted server did not become ready")
    await sleep(POLL_MS / 2)
  }
}

/** Clients that send requests in sequence, each on its own connection to the balancer, until `stop` is called. */
class Load {
  requests = 0
  acknowledged = 0
  /** Responses with 503: on a busy machine, calls to the shared database may exceed their deadline. */
  unavailable = 0
  /** Requests without a response from a server. */
  lost = 0
  #isStopped = false
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS })
  readonly #done: Promise<unknown>

  constructor(url: string, key: string) {
    const sendUntilStopped = async (): Promise<void> => {
      while (!this.#isStopped) {
        const index = this.requests++
        const body = `{"name":"Rex","categoryId":${index}}`
        const given = index % 2 === 0 ? { url, key, body } : { url: `${url}?limit=1`, key }
        const { status } = await exchange(this.#agent, given)
        if (status === 201) this.acknowledged++
        else if (status === 503) this.unavailable++
        else if (status !== 200) this.lost++
      }
    }
    this.#done = Promise.all(Array.from({ length: CLIENTS }, sendUntilStopped))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
    this.#agent.destroy()
  }
}

Attack.describeOn(["SQLite", "PostgreSQL"], "a rolling restart behind a load balancer", (create) => {
  it(
    "loses no request, and stores exactly the acknowledged animals",
    async () => {
      const database = await create()
      const first = await start(database, ["--issue-key", Attack.UNLIMITED])
      const nodes = [first]
      while (nodes.length < NODES) nodes.push(await start(database))
      const balancer = await Balancer.listen({ pollIntervalMs: POLL_MS })
      onTestFinished(() => balancer.close())
      for (const { origin } of nodes) balancer.add(origin)
      await waitUntilReady(balancer)
      const load = new Load(`${balancer.origin}/v1/pets`, first.key)
      onTestFinished(() => load.stop())
      const stoppedAt = new Map<string, number>()
      do {
        for (const [index, node] of nodes.entries()) {
          expect(node.isAlive, node.log).toBe(true)
          stoppedAt.set(node.origin, performance.now())
          await node.stop("SIGTERM")
          balancer.remove(node.origin)
          const next = await start(database)
          nodes[index] = next
          balancer.add(next.origin)
          await waitUntilReady(balancer)
        }
      } while (load.requests < REQUESTS)
      await load.stop()

      const failures = balancer.failures.map(({ at, message, origin = "" }) => {
        const since = at - (stoppedAt.get(origin) ?? Number.NaN)
        return Number.isNaN(since) ? message : `${message} ${Math.round(since)} ms after SIGTERM`
      })
      const { acknowledged, lost, requests, unavailable } = load
      Attack.report("rolling restart", { restarts: stoppedAt.size, requests, acknowledged, unavailable })
      expect({ lost, failures }).toEqual({ lost: 0, failures: [] })
      const unacknowledged = (await countPets((nodes[0] ?? first).origin, first.key)) - acknowledged
      expect(unacknowledged).toBeGreaterThanOrEqual(0)
      // A creation whose deadline passed may have been stored.
      expect(unacknowledged).toBeLessThanOrEqual(unavailable)
      expect(acknowledged).toBeGreaterThan(0)
      expect(stoppedAt.size).toBeGreaterThanOrEqual(NODES)
      // On a machine that is far too busy, deadlines of the database pass.
      if (Attack.isFull) expect(unavailable).toBeLessThanOrEqual(requests / 100)
    },
    Attack.TIMEOUT_MS
  )
})
