/** Attacks servers whose log cannot be written, while the database fails for every request. */
import { closeSync, existsSync, openSync, renameSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import * as Attack from "./Attack.fixture.ts"
import { AttackedServer } from "./AttackedServer.fixture.ts"
import * as HostileLoad from "./HostileLoad.fixture.ts"

const FULL = "/dev/full"

/** Milliseconds within which the service must recover once the database is back. */
const RECOVERY_MS = 60_000

/** Removes the database file under load, restores it, and checks that the server recovers. */
const attack = async (address: string, log: number | "closed pipe"): Promise<void> => {
  const filename = address.slice("sqlite:".length)
  const server = await AttackedServer.start({
    database: address,
    arguments: ["--issue-key", Attack.UNLIMITED, "--key-cache", "0"],
    ...(log === "closed pipe" ? {} : { log })
  })
  if (log === "closed pipe") server.closeLog()
  renameSync(filename, `${filename}.away`)
  const { serverErrors } = await HostileLoad.apply(server.port, {
    connections: 16,
    seconds: Attack.isFull ? 20 : 1,
    request: HostileLoad.get("/v1/pets", `Authorization: Bearer ${server.key}`),
    pipelined: 1,
    reading: "before sending again"
  })
  renameSync(`${filename}.away`, filename)
  Attack.report("a log that cannot be written", { "responses with 503": serverErrors })
  expect(serverErrors).toBeGreaterThanOrEqual(16)
  expect(server.isAlive).toBe(true)
  expect(await lastStatus(server)).toBe(200)
}

/** Repeats a request until its status is 200 or the timeout has passed, and returns the last status. */
const lastStatus = async (server: AttackedServer): Promise<number> => {
  const headers = { authorization: `Bearer ${server.key}`, connection: "close" }
  const until = performance.now() + RECOVERY_MS
  for (;;) {
    const status = await fetch(`${server.origin}/v1/pets`, { headers }).then(
      (response) => response.status,
      () => 0
    )
    if (status === 200 || performance.now() > until) return status
    await sleep(100)
  }
}

Attack.describeOn(["SQLite"], "a server without its database file", (create) => {
  it.skipIf(!existsSync(FULL))(
    "returns 503 and recovers if its log is on a full disk",
    async () => {
      const log = openSync(FULL, "w")
      onTestFinished(() => closeSync(log))
      await attack(await create(), log)
    },
    Attack.TIMEOUT_MS
  )

  it(
    "returns 503 and recovers if its log is a closed pipe",
    async () => attack(await create(), "closed pipe"),
    Attack.TIMEOUT_MS
  )
})
