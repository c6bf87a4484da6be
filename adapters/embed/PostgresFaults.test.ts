/** Checks that an error of PostgreSQL is handled according to its cause: only an outage makes the service unavailable. */
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as FaultCaller from "./FaultCaller.fixture.ts"

const execute = (
  { client }: Pick<Databases.Database, "client">,
  ...statements: ReadonlyArray<string>
): Promise<unknown> =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.forEach(statements, (statement) => sql.unsafe(statement))
    ).pipe(Effect.provide(client))
  )

const nameOf = ({ address }: Databases.Database): string => new URL(address).pathname.slice(1)

/** Ends all sessions of the store, as a server does that stops or becomes a standby. */
const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'animal-store'`

/** Sends requests on four connections until `stop` is called, which returns all outcomes since `reset`. */
const startTraffic = (request: () => Promise<FaultCaller.Outcome>) => {
  let outcomes: Array<FaultCaller.Outcome> = []
  let isStopped = false
  const clients = Array.from({ length: 4 }, async () => {
    while (!isStopped) {
      outcomes.push(await request())
      await sleep(1)
    }
  })
  return {
    /** Returns the outcomes since the last call. */
    take: () => {
      const latest = outcomes
      outcomes = []
      return latest
    },
    stop: async () => {
      isStopped = true
      await Promise.all(clients)
    }
  }
}

Databases.describeOn(Databases.postgresAlone, "a store under constant traffic", () => {
  it.each([
    ["read-only", "default_transaction_read_only", "on"],
    ["without its schema", "search_path", "none"]
  ])(
    "recovers from a server that was %s for a while, although its sessions still are",
    async (_, setting, value) => {
      const database = await Databases.createForTest(Databases.postgresAlone)
      const { caller } = await FaultCaller.open(database.address)
      const traffic = startTraffic(() => caller.send("/v1/pets"))
      onTestFinished(traffic.stop)
      await execute(database, `ALTER DATABASE "${nameOf(database)}" SET ${setting} = ${value}`, endSessions)
      await sleep(1_000)
      expect(FaultCaller.rejectedOf(traffic.take()).length).toBeGreaterThan(0)

      await execute(
        database,
        "SET default_transaction_read_only = off",
        `ALTER DATABASE "${nameOf(database)}" RESET ${setting}`
      )
      await caller.recover()
      // Such sessions that were opened last are discarded when they are 500 ms old.
      await sleep(1_000)
      traffic.take()
      await sleep(500)
      const outcomes = traffic.take()
      expect(outcomes.length).toBeGreaterThan(0)
      expect(FaultCaller.rejectedOf(outcomes)).toEqual([])
    }
  )

  it("rejects no request if all its sessions become read-only but new ones are not", async () => {
    const database = await Databases.createForTest(Databases.postgresAlone)
    const setDefault = (value: string) =>
      execute(
        database,
        "SET default_transaction_read_only = off",
        `ALTER DATABASE "${nameOf(database)}" SET default_transaction_read_only = ${value}`
      )
    const { caller, store } = await FaultCaller.open(database.address)
    await setDefault("on")
    await execute(database, endSessions)
    await sleep(100)
    // Reads open read-only sessions.
    await Promise.all(Array.from({ length: 16 }, () => store.keys.list()))
    await setDefault("off")
    // The sessions are old enough to be replaced.
    await sleep(600)
    const outcomes = await Promise.all([
      ...Array.from({ length: 20 }, () => caller.createOnce()),
      ...Array.from({ length: 20 }, () => caller.create())
    ])
    expect(FaultCaller.rejectedOf(outcomes)).toEqual([])
    await caller.checkStored()
  })

  it("rejects no read and no creation with a key when the server ends its sessions", async () => {
    const database = await Databases.createForTest(Databases.postgresAlone)
    const { caller } = await FaultCaller.open(database.address, { keyCacheMs: 0 })
    let count = 0
    const traffic = startTraffic(() => {
      count++
      return count % 3 === 0 ? caller.createOnce() : caller.send(count % 3 === 1 ? "/v1/pets" : "/v1/pets/1")
    })
    onTestFinished(traffic.stop)
    for (let round = 0; round < 4; round++) {
      await sleep(600)
      await execute(database, endSessions)
    }
    await sleep(100)
    await traffic.stop()
    const outcomes = traffic.take()
    expect(outcomes.length).toBeGreaterThan(100)
    expect(FaultCaller.rejectedOf(outcomes)).toEqual([])
    await caller.checkStored()
  })

  it("rejects no request if the server opens fewer connections than the store may use", async () => {
    const role = `animal_store_test_${process.pid}_${Date.now().toString(36)}`
    const server = { client: Databases.serverClient }
    // Runs after the database of the role is dropped.
    onTestFinished(async () => {
      await execute(server, `DROP ROLE ${role}`)
    })
    const database = await Databases.createForTest(Databases.postgresAlone)
    await execute(
      server,
      `CREATE ROLE ${role} LOGIN PASSWORD 'test' CONNECTION LIMIT 3`,
      `ALTER DATABASE "${nameOf(database)}" OWNER TO ${role}`
    )
    const url = new URL(database.address)
    url.username = role
    url.password = "test"
    const { caller } = await FaultCaller.open(url.href, { databaseConnections: 16, databaseTimeoutMs: 5_000 })
    for (let round = 0; round < 4; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          index % 4 === 0
            ? caller.createOnce()
            : index % 4 === 1
              ? caller.create()
              : caller.send(index % 4 === 2 ? "/v1/pets" : "/v1/pets/1")
        )
      )
      expect(FaultCaller.rejectedOf(outcomes)).toEqual([])
      await sleep(400)
    }
    await caller.checkStored()
  })
})

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a store", () => {
    it("returns 500 without Retry-After for a value that the database rejects, and stays ready", async () => {
      const database = await Databases.createForTest(kind)
      const { caller } = await FaultCaller.open(database.address)
      const when = "NEW.name = 'rejected'"
      await (kind === Databases.postgres
        ? execute(database, "ALTER TABLE pets ADD CHECK (name <> 'rejected')")
        : execute(
            database,
            `CREATE TRIGGER check_name BEFORE INSERT ON pets WHEN ${when} BEGIN SELECT RAISE(ABORT, 'rejected'); END`
          ))
      for (const key of [undefined, "repeatable-creation-1"]) {
        for (let count = 0; count < 6; count++) {
          const { body, headers, status } = await caller.send("/v1/pets", {
            method: "POST",
            body: '{"name":"rejected","categoryId":1}',
            headers: key === undefined ? {} : { "Idempotency-Key": key }
          })
          expect({ status, body: JSON.parse(body) }).toMatchObject({
            status: 500,
            body: { code: "internal_error", status: 500 }
          })
          expect(headers.get("retry-after")).toBeNull()
        }
      }
      expect((await caller.send("/readyz")).status).toBe(200)
      await caller.recover()
    })
  })
}
