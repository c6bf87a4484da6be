/** Checks stores behind a real PgBouncer: startup fails with the remedy, or the sessions are kept. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as Net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it, onTestFinished } from "vitest"
import { openAnimalStore } from "../embed/index.ts"
import * as Databases from "./Databases.fixture.ts"

const missing =
  Databases.postgresAlone.missing ??
  (spawnSync("pgbouncer", ["--version"]).status === 0 ? undefined : "PgBouncer is not installed")

const freePort = async (): Promise<number> => {
  const server = Net.createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return address.port
}

/** Starts PgBouncer before a new database, and returns the address of the database behind it. */
const startPooler = async (settings: ReadonlyArray<string>): Promise<string> => {
  const database = new URL((await Databases.createForTest(Databases.postgresAlone)).address)
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
  fs.chmodSync(directory, 0o755)
  const port = await freePort()
  const { hostname, password, username } = database
  const login = password === "" ? `user=${username}` : `user=${username} password=${password}`
  const file = path.join(directory, "pgbouncer.ini")
  fs.writeFileSync(
    file,
    [
      "[databases]",
      `* = host=${hostname} port=${database.port === "" ? 5432 : database.port} ${login}`,
      "[pgbouncer]",
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
      ...settings
    ].join("\n")
  )
  // PgBouncer does not run as root.
  const pooler: ChildProcess = spawn("pgbouncer", [
    ...(process.getuid?.() === 0 ? ["-u", "nobody"] : []),
    file
  ])
  onTestFinished(async () => {
    const exited = once(pooler, "exit")
    pooler.kill("SIGKILL")
    await exited
    fs.rmSync(directory, { recursive: true })
  })
  for (let attempt = 0; attempt < 200; attempt++) {
    const socket = Net.connect(port, "127.0.0.1")
    const isOpen = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "close")
    ]).catch(() => false)
    socket.destroy()
    if (isOpen === true) break
    await sleep(50)
  }
  return `postgres://${username}@127.0.0.1:${port}${database.pathname}`
}

describe(
  missing === undefined ? "a store behind PgBouncer" : `a store behind PgBouncer (skipped, ${missing})`,
  () => {
    const pools = [
      "pool_mode = transaction",
      "pool_mode = transaction\ndefault_pool_size = 1",
      "pool_mode = transaction\nserver_round_robin = 1",
      "pool_mode = statement"
    ]
    it
      .skipIf(missing !== undefined)
      .each(pools.flatMap((settings) => [1, 16].map((connections) => ({ settings, connections }))))(
      "fails to open with $settings and $connections connections, and names the remedy",
      async (pool) => {
        const database = await startPooler([pool.settings])
        const opening = openAnimalStore({ database, databaseConnections: pool.connections })
        await expect(opening).rejects.toThrow(
          /set pool_mode = session, or pass the address of PostgreSQL itself/
        )
      }
    )

    it.skipIf(missing !== undefined)("fails to open while other clients use the sessions", async () => {
      const database = await startPooler(["pool_mode = transaction\ndefault_pool_size = 8"])
      let isStopped = false
      const clients = Array.from({ length: 6 }, () =>
        Effect.runPromise(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Effect.whileLoop({
              while: () => !isStopped,
              body: () => Effect.ignore(sql.unsafe("SELECT 1").unprepared),
              step: () => {}
            })
          ).pipe(Effect.provide(Databases.clientOf(database)))
        )
      )
      for (let attempt = 0; attempt < 20; attempt++) {
        await expect(openAnimalStore({ database })).rejects.toThrow(/pool_mode = session/)
      }
      isStopped = true
      await Promise.all(clients)
    })

    it.skipIf(missing !== undefined).each([
      { settings: "pool_mode = session", connections: 16 },
      { settings: "pool_mode = session\ndefault_pool_size = 1", connections: 1 }
    ])("serves requests with $settings and $connections connections", async (pool) => {
      const database = await startPooler([pool.settings])
      const store = await openAnimalStore({
        ...{ database, databaseConnections: pool.connections, log: () => undefined }
      })
      onTestFinished(() => store.close())
      const { key } = await store.keys.issue({ plan: "Business" })
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async () => {
          const request = new Request("http://store.test/v1/pets", {
            headers: { Authorization: `Bearer ${key}` }
          })
          return (await store.fetch(request)).status
        })
      )
      expect(new Set(statuses)).toEqual(new Set([200]))
    })
  }
)
