/** Tests that servers keep responding if their standard error cannot be written to, or is never read. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import * as CommandLine from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import type { Announced } from "./Greeting.fixture.ts"
import { type ServerProcess, start, stop } from "./Serve.fixture.ts"

/** Arguments of a server on a new database, and a function that executes a statement on the same database. */
const prepare = () => {
  const filename = path.join(Directory.create(), "x.db")
  const limits = "Enterprise:perMinute=1000000,perDay=1000000"
  const args = ["--json", "--database", `sqlite:${filename}`, "--issue-key", limits]
  const execute = (sql: string): void => {
    const database = new DatabaseSync(filename)
    database.exec(sql)
    database.close()
  }
  return { args, execute }
}

/** Makes requests fail for longer than the interval of summaries in the log, then restores the database. */
const failAndRecover = async ({ get }: Announced, execute: (sql: string) => void): Promise<void> => {
  const status = async () => (await get("/pets")).status
  expect(await status()).toBe(200)
  execute("ALTER TABLE pets RENAME TO gone")
  for (let round = 0; round < 13; round++) {
    expect([await status(), await status()]).toEqual([503, 503])
    await sleep(100)
  }
  execute("ALTER TABLE gone RENAME TO pets")
  expect(await status()).toBe(200)
}

/** Starts a server with the given standard error, lets requests fail, and stops it. */
const expectUnaffected = async (stderr: number | "closed"): Promise<void> => {
  const { args, execute } = prepare()
  const server: ServerProcess = await start(
    ["--port", "0", ...args],
    {},
    stderr === "closed" ? {} : { stderr }
  )
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  if (stderr === "closed") server.process.stderr?.destroy()
  await failAndRecover(server, execute)
  expect(await stop(server)).toMatchObject({ code: 0, signal: null })
}

const hasFullDevice = fs.existsSync("/dev/full")

it.skipIf(!hasFullDevice)(
  `a server keeps running if its log is on a full disk${hasFullDevice ? "" : " (skipped: /dev/full is missing)"}`,
  async () => {
    const full = fs.openSync("/dev/full", "w")
    onTestFinished(() => fs.closeSync(full))
    await expectUnaffected(full)
  }
)

it("a server keeps running after the reader of its log has closed the pipe", () => expectUnaffected("closed"))

const canMakeFifo = spawnSync("mkfifo", ["--version"]).error === undefined

it.skipIf(!canMakeFifo)(
  `a server does not block if its log is never read${canMakeFifo ? "" : " (skipped: mkfifo is not installed)"}`,
  async () => {
    const filename = path.join(Directory.create(), "fifo")
    spawnSync("mkfifo", [filename])
    const { O_NONBLOCK, O_RDWR, O_WRONLY } = fs.constants
    const reader = fs.openSync(filename, O_RDWR | O_NONBLOCK)
    // A separate blocking descriptor, so that writes block unless the server prevents it.
    const writer = fs.openSync(filename, O_WRONLY)
    onTestFinished(() => [reader, writer].forEach((descriptor) => void fs.closeSync(descriptor)))
    try {
      while (true) fs.writeSync(reader, Buffer.alloc(4_096, "x\n"))
    } catch (error) {
      expect(error).toMatchObject({ code: "EAGAIN" })
    }
    await expectUnaffected(writer)
  }
)

it("the log has one line per kind of failure plus summaries, not one line per request", async () => {
  const { args, execute } = prepare()
  const server = await CommandLine.serve(args)
  execute("ALTER TABLE pets RENAME TO gone")
  const responses = await Promise.all(Array.from({ length: 60 }, () => server.get("/pets")))
  expect(responses.map(({ status }) => status)).toEqual(Array(60).fill(503))
  const summary = /message="503 service_unavailable × [1-9][0-9,]* in [0-9.]+ s".*no such table: pets/
  await server.waitForLog(summary)
  const { stderr } = await server.stop()
  const lines = stderr.split("\n").filter((line) => line.includes("503"))
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.length).toBeLessThan(30)
})
