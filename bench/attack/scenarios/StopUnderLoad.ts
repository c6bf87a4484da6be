/** Stops a server with a signal while keep-alive clients send requests: no request may be lost. */
import * as http from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { AttackedServer, UNLIMITED } from "../AttackedServer.ts"
import { countPets, exchange } from "../Exchange.ts"
import * as Finding from "../Finding.ts"
import type { Scenario } from "../Scenario.ts"

const CLIENTS = 16
const WARM_UP_MS = 500

interface Client {
  readonly created: number
  /** Whether the response to its last request had `Connection: close`. */
  readonly isNotified: boolean
}

const stopBy = (signal: NodeJS.Signals): Scenario => ({
  name: `stop-by-${signal.toLowerCase()}`,
  description: `${signal} while ${CLIENTS} keep-alive clients create animals`,
  databases: ["SQLite"],
  run: async (_, database) => {
    const address = await database.create()
    const server = await start(address)
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => create(server)))
    await sleep(WARM_UP_MS)
    const exit = await server.stop(signal)
    const seen = await clients
    const acknowledged = seen.reduce((sum, { created }) => sum + created, 0)

    const successor = await start(address)
    const stored = await countPets(successor.origin, successor.keys[0] ?? "").finally(() => successor.stop())
    return [
      Finding.measured("animals acknowledged", acknowledged),
      Finding.equal("clients that lost a request", seen.filter(({ isNotified }) => !isNotified).length, 0),
      Finding.equal("animals stored beyond those acknowledged", stored - acknowledged, 0),
      Finding.equal("exit code", exit.code ?? String(exit.signal), 0)
    ]
  }
})

export const stopBySigterm = stopBy("SIGTERM")
export const stopBySighup = stopBy("SIGHUP")

const start = (database: string): Promise<AttackedServer> =>
  AttackedServer.start({ database, arguments: ["--drain", "1s", "--issue-key", UNLIMITED] })

/** Creates animals until the server closes the connection. */
const create = async ({ keys, origin }: AttackedServer): Promise<Client> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (let created = 0; ; created++) {
      const { isClosing, status } = await exchange(agent, {
        url: `${origin}/v1/pets`,
        key: keys[0] ?? "",
        body: `{"name":"Rex","categoryId":${created}}`
      })
      if (status !== 201) return { created, isNotified: false }
      if (isClosing) return { created: created + 1, isNotified: true }
    }
  } finally {
    agent.destroy()
  }
}
