/** Runs servers whose log cannot be written, while the database fails for every request. */
import { closeSync, existsSync, openSync, renameSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { AttackedServer, UNLIMITED } from "../AttackedServer.ts"
import * as Finding from "../Finding.ts"
import * as HostileLoad from "../HostileLoad.ts"
import * as Requests from "../Requests.ts"
import type { Database, Scenario } from "../Scenario.ts"

const FULL = "/dev/full"

/** Milliseconds within which the service must recover once the database is back. */
const RECOVERY_MS = 5_000

/** Removes the database file under load, restores it, and reports the behavior of the server. */
const attack = async (
  address: string,
  seconds: number,
  log: number | "closed pipe"
): Promise<ReadonlyArray<Finding.Finding>> => {
  const filename = address.slice("sqlite:".length)
  const server = await AttackedServer.start({
    database: address,
    arguments: ["--issue-key", UNLIMITED, "--key-cache", "0"],
    ...(log === "closed pipe" ? {} : { log })
  })
  try {
    if (log === "closed pipe") server.closeLog()
    renameSync(filename, `${filename}.away`)
    const outcome = await HostileLoad.apply(server.port, {
      connections: 16,
      seconds,
      request: Requests.get("/v1/pets", `Authorization: Bearer ${server.keys[0]}`),
      pipelined: 1,
      reading: "before sending again"
    })
    renameSync(`${filename}.away`, filename)
    return [
      Finding.atLeast("responses with 503", outcome.serverErrors, 100),
      Finding.equal("server", server.isAlive ? "alive" : "exited", "alive"),
      Finding.equal("status once the database is back", await lastStatus(server), 200)
    ]
  } finally {
    await server.stop()
  }
}

/** Repeats a request until its status is 200 or the timeout has passed, and returns the last status. */
const lastStatus = async (server: AttackedServer): Promise<number> => {
  const headers = { authorization: `Bearer ${server.keys[0]}`, connection: "close" }
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

const durationOf = (isQuick: boolean): number => (isQuick ? 1 : 20)

export const logOnFullDisk: Scenario = {
  name: "log-on-full-disk",
  description: "standard error is /dev/full while the database file is missing",
  databases: ["SQLite"],
  run: async ({ isQuick }, database: Database) => {
    if (!existsSync(FULL)) return [Finding.unknown("server", `no ${FULL}`)]
    const log = openSync(FULL, "w")
    try {
      return await attack(await database.create(), durationOf(isQuick), log)
    } finally {
      closeSync(log)
    }
  }
}

export const logToClosedPipe: Scenario = {
  name: "log-to-closed-pipe",
  description: "standard error is a closed pipe while the database file is missing",
  databases: ["SQLite"],
  run: async ({ isQuick }, database: Database) =>
    attack(await database.create(), durationOf(isQuick), "closed pipe")
}
