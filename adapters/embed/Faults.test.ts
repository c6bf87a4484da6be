/** Checks responses while the database is unavailable, and recovery when it is available again. */
import { once } from "node:events"
import * as fs from "node:fs"
import * as Net from "node:net"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import {
  type Caller,
  createFile,
  expectUnavailable,
  isServed,
  open,
  rejectedOf
} from "./FaultCaller.fixture.ts"
import * as LimitedServer from "./LimitedServer.fixture.ts"
import * as NetworkFaults from "./NetworkFaults.fixture.ts"

/** Holds a transaction open; returns a function that commits it. */
const holdTransaction = async (database: Databases.Database, statement: string) => {
  const [held, release] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  const transaction = Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(statement)
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(release)
        })
      )
    ).pipe(Effect.provide(database.client))
  )
  await Promise.race([transaction, Effect.runPromise(Deferred.await(held))])
  return async () => {
    await Effect.runPromise(Deferred.succeed(release, undefined))
    await transaction
  }
}

const execute = (database: Databases.Database, statement: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(database.client))
  )

/** Expects 503 responses, `/livez` and no readiness during the outage, and full recovery after `end`. */
const checkOutage = async (caller: Caller, end: () => unknown): Promise<void> => {
  const rejected = [...(await caller.requests(24)), ...(await caller.requests(8))]
  expectUnavailable(rejected)
  await caller.expectLive()
  await caller.waitForReadiness(503)
  await end()
  await caller.recoverFully()
  await caller.checkStored(rejected)
}

Databases.describeOn(Databases.postgres, "a store with a faulty network", () => {
  it("returns 503 while PostgreSQL is down, and then recovers", async () => {
    const { caller, network } = await NetworkFaults.openStore({ keyCacheMs: 0 })
    await network.refuse()
    await checkOutage(caller, network.pass)
  })

  it("returns 503 while PostgreSQL hangs, and then recovers", async () => {
    const { caller, network } = await NetworkFaults.openStore()
    network.hang()
    await checkOutage(caller, network.pass)
  })

  it("responds to all requests in flight when PostgreSQL starts to hang", async () => {
    const { caller, network } = await NetworkFaults.openStore()
    let rejected = 0
    for (let round = 0; round < 3; round++) {
      // More animals than fit into two insert statements.
      const pending = Array.from({ length: 200 }, () => caller.create())
      // Hangs while the requests are counted, or while the first animals are inserted.
      await (round % 2 === 0 ? sleep(round) : Promise.race(pending))
      network.hang()
      rejected += rejectedOf(await Promise.all(pending)).length
      await network.pass()
      await caller.recover()
    }
    expect(rejected).toBeGreaterThan(0)
    // An insert that was sent before the fault may be stored although its response is a 503.
    await caller.checkStored()
  })

  it("responds to all requests in flight when connections are reset", async () => {
    let relayed = Number.POSITIVE_INFINITY
    const { caller, network } = await NetworkFaults.openStore({}, () => {
      if (relayed-- === 0) network.cut()
    })
    let rejected = 0
    for (let round = 0; round < 6; round++) {
      // The first data of the database are about the counts, and those after it about the animals.
      relayed = round % 3
      rejected += rejectedOf(await Promise.all(Array.from({ length: 40 }, () => caller.create()))).length
      relayed = Number.POSITIVE_INFINITY
      await caller.recover()
    }
    expect(rejected).toBeGreaterThan(0)
    await caller.checkStored()
  })

  it.each(["BEGIN", "COMMIT"])("goes on and closes after a response to %s is lost", async (statement) => {
    let lost: string | undefined
    const { address, network } = await NetworkFaults.createDatabase((chunk) => {
      if (lost === undefined || !chunk.includes(lost)) return
      lost = undefined
      network.blackhole()
    })
    const { store } = await open(address)
    const { id } = await store.keys.issue({ plan: "Free" })
    lost = statement
    await expect(store.keys.set(id, { label: "lost" })).rejects.toThrow("the store is unavailable")
    expect(lost).toBeUndefined()
    // The connection is closed when the driver has waited for it, too.
    await expect.poll(() => store.keys.revoke(id).then(() => true, String)).toBe(true)
    await store.close()
  })

  it("creates each animal once if creations with an Idempotency-Key are repeated after 503", async () => {
    const { caller, network } = await NetworkFaults.openStore()
    let rejected = 0
    for (let round = 0; round < 4; round++) {
      const pending = Array.from({ length: 40 }, () => caller.createOnce())
      // The fault comes while requests are counted, while the first animals are inserted, or between commits.
      await (round % 3 === 0 ? sleep(round) : Promise.race(pending))
      if (round % 3 === 2) await sleep(round * 3)
      if (round % 2 === 0) network.hang()
      else network.cut()
      rejected += rejectedOf(await Promise.all(pending)).length
      await network.pass()
      await caller.recover()
      await caller.repeatRejected()
    }
    expect(rejected).toBeGreaterThan(0)
    await caller.checkStored()
  })
})

Databases.describeOn(Databases.postgres, "a store", () => {
  it("returns 503 while all connections wait for locks, and recovers after the locks are released", async () => {
    const database = await Databases.createForTest(Databases.postgres)
    const { caller } = await open(database.address)
    await checkOutage(caller, await holdTransaction(database, "LOCK TABLE pets, rate_limits, settings"))
  })

  it("stores no animal for a creation that timed out while it waited for a lock", async () => {
    const database = await Databases.createForTest(Databases.postgres)
    const { caller } = await open(database.address)
    const release = await holdTransaction(database, "LOCK TABLE pets IN SHARE MODE")
    const rejected = await caller.creates(12)
    expectUnavailable(rejected)
    // Reads still work.
    for (const target of ["/v1/pets", "/v1/pets/1"]) expect(await caller.send(target)).toSatisfy(isServed)
    // The store cancels statements that time out; until the server has ended them, they still wait for the lock.
    await expect
      .poll(() =>
        execute(database, "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets'::regclass")
      )
      .toEqual([])
    await release()
    await caller.recoverFully()
    await caller.checkStored(rejected)
  })
})

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a store", () => {
    it("returns 503 while a table is missing", async () => {
      const database = await Databases.createForTest(kind)
      const { caller } = await open(database.address, { keyCacheMs: 0 })
      for (const table of ["pets", "rate_limits", "api_keys", "api_key_secrets"]) {
        await execute(database, `ALTER TABLE ${table} RENAME TO gone`)
        // The readiness probe detects the missing table without any request.
        await caller.waitForReadiness(503)
        expectUnavailable(await caller.requests(12))
        await caller.expectLive()
        await execute(database, `ALTER TABLE gone RENAME TO ${table}`)
        await caller.recover()
      }
      await caller.recoverFully()
      await caller.checkStored()
    })

    it("stores a creation completely or not at all when the client disconnects", async () => {
      const database = await Databases.createForTest(kind)
      const { caller, key, store } = await open(database.address)
      const { port } = await store.listen({ port: 0 })
      for (let count = 0; count < 21; count++) {
        const body = `{"name":"left ${count}","categoryId":1}`
        const socket = Net.connect(port, "127.0.0.1")
        await once(socket, "connect")
        socket.write(
          `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${count % 3 === 0 ? body.slice(0, 9) : body}`
        )
        await sleep(count % 7)
        socket.resetAndDestroy()
      }
      await caller.recoverFully()
      const names = (await caller.send("/v1/pets?limit=100")).body.match(/"name":"left [0-9]+"/g) ?? []
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) expect(Number(/[0-9]+/.exec(name)?.[0]) % 3, name).not.toBe(0)
    })
  })
}

describe("a store on SQLite", () => {
  it("returns 503 while another connection locks the file, without blocking the event loop", async () => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    const locker = new DatabaseSync(filename)
    onTestFinished(() => locker.close())
    locker.exec("BEGIN EXCLUSIVE")
    let turns = 0
    let counting = setImmediate(function count() {
      turns++
      counting = setImmediate(count)
    })
    expectUnavailable(await caller.requests(40))
    clearImmediate(counting)
    // If each call blocked the event loop until its timeout, there would be about one turn for each of them.
    expect(turns).toBeGreaterThan(400)
    await checkOutage(caller, () => locker.exec("COMMIT"))
  })

  it("returns 503 for creations after the database file is deleted", async () => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    fs.rmSync(filename)
    expectUnavailable(await caller.creates(4))
  })

  it.each([
    ["removed", (log: string) => fs.rmSync(log)],
    ["emptied", (log: string) => fs.truncateSync(log)]
  ] as const)("is not ready and returns 503 after the -wal file is %s", async (_, damage) => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    await caller.waitForReadiness(200)
    damage(`${filename}-wal`)
    // The readiness probe detects the damage without any request.
    await caller.waitForReadiness(503)
    expectUnavailable(await caller.requests(12))
    await caller.expectLive()
  })
})

const canSetFileLimit = LimitedServer.succeeds("prlimit", "--pid", String(process.pid), "--fsize")

describe("a server on SQLite", () => {
  it.skipIf(!canSetFileLimit)(
    "returns 503 while files have reached their size limit (skipped if the limit cannot be set)",
    async () => {
      const filename = await createFile()
      const directory = path.dirname(filename)
      // The log file already has the maximum size.
      const log = path.join(directory, "log")
      fs.writeFileSync(log, Buffer.alloc(2_048 * 1_024))
      const server = await LimitedServer.serve([], `ulimit -S -f 2048 && exec 2>>'${log}'`, filename)
      const raiseLimit = () =>
        expect(LimitedServer.succeeds("prlimit", "--pid", String(server.pid), "--fsize=unlimited:")).toBe(
          true
        )
      await LimitedServer.expectRecovery(server, directory, raiseLimit)
    }
  )
})
