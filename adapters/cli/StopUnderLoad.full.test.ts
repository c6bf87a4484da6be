/** Stops servers with a signal while keep-alive clients send requests: no request may be lost. */
import * as http from "node:http"
import { expect, it } from "vitest"
import * as Attack from "./Attack.fixture.ts"
import { AttackedServer } from "./AttackedServer.fixture.ts"
import { countPets, exchange } from "./PoliteClient.fixture.ts"

const CLIENTS = 16
/** The number of animals that each client creates before the signal is sent. */
const CREATED_FIRST = 10

interface Client {
  readonly created: number
  /** Whether the response to its last request had `Connection: close`. */
  readonly isNotified: boolean
}

const start = (database: string): Promise<AttackedServer> =>
  AttackedServer.start({
    database,
    arguments: ["--drain", "1s", "--database-timeout", "30s", "--issue-key", Attack.UNLIMITED]
  })

/** Creates animals until the server closes the connection; calls `onCreated` after each. */
const create = async (
  { key, origin }: AttackedServer,
  onCreated: (count: number) => void
): Promise<Client> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (let created = 0; ; created++) {
      const body = `{"name":"Rex","categoryId":${created}}`
      const { isClosing, status } = await exchange(agent, { url: `${origin}/v1/pets`, key, body })
      if (status !== 201) return { created, isNotified: false }
      if (isClosing) return { created: created + 1, isNotified: true }
      onCreated(created + 1)
    }
  } finally {
    agent.destroy()
  }
}

Attack.describeOn(["SQLite"], "a server that stops while clients create animals", (createDatabase) => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGHUP"])(
    "on %s, loses no request, stores exactly the acknowledged animals, and exits with 0",
    async (signal) => {
      const database = await createDatabase()
      const server = await start(database)
      let waiting = CLIENTS
      const clients: Array<Promise<Client>> = []
      await new Promise<void>((resolve) => {
        const onCreated = (count: number): void => {
          if (count === CREATED_FIRST && --waiting === 0) resolve()
        }
        while (clients.length < CLIENTS) clients.push(create(server, onCreated))
      })
      const exit = await server.stop(signal)
      const seen = await Promise.all(clients)
      const acknowledged = seen.reduce((sum, { created }) => sum + created, 0)

      const successor = await start(database)
      expect(seen.filter(({ isNotified }) => !isNotified)).toEqual([])
      expect(await countPets(successor.origin, successor.key)).toBe(acknowledged)
      expect(exit).toEqual({ code: 0, signal: null })
    },
    Attack.TIMEOUT_MS
  )
})
