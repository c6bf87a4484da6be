/** Checks faults of the database that take long to detect or to produce; `Faults.test.ts` checks the others. */
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { run } from "../cli/Serve.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import { createFile, expectUnavailable, open, rejectedOf } from "./FaultCaller.fixture.ts"
import * as LimitedServer from "./LimitedServer.fixture.ts"
import * as NetworkFaults from "./NetworkFaults.fixture.ts"

Databases.describeOn(Databases.postgres, "a store with a faulty network", () => {
  it("returns 503 while PostgreSQL is down and the key is cached, and then recovers", async () => {
    const { caller, network } = await NetworkFaults.openStore({ keyCacheMs: 5_000 })
    await network.refuse()
    expectUnavailable(await caller.requests(24))
    await network.pass()
    await caller.recoverFully()
  })

  it("returns 503 to ten rounds of requests while PostgreSQL hangs, and then recovers", async () => {
    const { caller, network } = await NetworkFaults.openStore()
    network.hang()
    for (let round = 0; round < 10; round++) expectUnavailable(await caller.requests(8))
    await network.pass()
    await caller.recoverFully()
  })

  it("recovers after its connections have silently stopped working", async () => {
    const { caller, network } = await NetworkFaults.openStore()
    network.blackhole()
    // Each dead connection fails one request, and the driver waits five seconds before it closes the connection.
    await caller.recoverFully()
    await caller.checkStored()
  })

  it("closes while PostgreSQL hangs", async () => {
    const { caller, network, store } = await NetworkFaults.openStore()
    network.hang()
    const pending = caller.requests(12)
    await store.close()
    expectUnavailable(await pending)
  })
})

Databases.describeOn(Databases.postgres, "a server", () => {
  it("exits with a one-line error when the database hangs at startup", async () => {
    const { address, network } = await NetworkFaults.createDatabase()
    network.hang()
    const { code, stderr, stdout } = await run(["serve", "--port", "0", "--database", address])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^animal-store: [^\n]*\n$/)
  })
})

const canMount = LimitedServer.succeeds("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt")

describe("SQLite", () => {
  it("does not crash a store when the file is overwritten with random bytes", async () => {
    const filename = await createFile()
    const { caller } = await open(`sqlite:${filename}`)
    await caller.creates(100)
    fs.writeFileSync(filename, randomBytes(fs.statSync(filename).size + 100_000))
    fs.writeFileSync(`${filename}-wal`, randomBytes(100_000))
    rejectedOf(await caller.requests(40))
    await caller.expectLive()
    await caller.waitForReadiness(503)
  })

  it.skipIf(!canMount)(
    "makes a server return 503 while the disk is full (skipped if no disk can be mounted)",
    async () => {
      const filename = await createFile()
      const directory = path.dirname(filename)
      // The log is on the same disk, and its next line needs a new block.
      const mount =
        `mount -t tmpfs -o size=2m none '${directory}' && head -c 500000 /dev/zero > '${directory}/other' && ` +
        `head -c 4096 /dev/zero > '${directory}/log' && exec 2>>'${directory}/log'`
      // Only the shell and its child processes see this mount.
      const server = await LimitedServer.serve(["unshare", "-rm"], mount, filename)
      const mounted = `/proc/${server.pid}/root${directory}`
      await LimitedServer.expectRecovery(server, mounted, () => fs.rmSync(`${mounted}/other`))
    }
  )
})
