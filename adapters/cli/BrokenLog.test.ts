/** Checks that servers keep responding if their standard error cannot be written to or is never read. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"

const main = fileURLToPath(new URL("./main.ts", import.meta.url))

const createDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  return directory
}

/** Starts a server on a new database with the given standard error. */
const serve = async (stderr: number | "pipe", prepare: (child: ChildProcess) => void = () => undefined) => {
  const filename = path.join(createDirectory(), "x.db")
  const limits = "Enterprise:perMinute=1000000,perDay=1000000"
  const args = ["serve", "--json", "--port", "0", "--database", `sqlite:${filename}`, "--issue-key", limits]
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", stderr],
    timeout: 60_000,
    killSignal: "SIGKILL"
  })
  prepare(child)
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const { stdout } = child
  if (stdout === null) throw new Error("standard output is not a pipe")
  const [line]: Array<Buffer> = await Promise.race([
    once(stdout, "data"),
    ended.then(() => Promise.reject(new Error("the server exited early")))
  ])
  const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(String(line))
  const status = async (): Promise<number> => {
    const response = await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${keys[0]?.key}` } })
    await response.arrayBuffer()
    return response.status
  }
  const database = new DatabaseSync(filename)
  onTestFinished(() => database.close())
  return { child, ended, status, execute: (sql: string) => database.exec(sql) }
}

type Server = Awaited<ReturnType<typeof serve>>

/** Makes requests fail twice, each time for longer than the summary interval, and restores the database. */
const failAndRecover = async ({ execute, status }: Server): Promise<void> => {
  for (let round = 0; round < 2; round++) {
    expect(await status()).toBe(200)
    execute("ALTER TABLE pets RENAME TO gone")
    const deadline = performance.now() + 1_300
    while (performance.now() < deadline) expect(await status()).toBe(503)
    execute("ALTER TABLE gone RENAME TO pets")
    expect(await status()).toBe(200)
  }
}

const stop = async ({ child, ended }: Server): Promise<void> => {
  child.kill("SIGTERM")
  expect(await ended).toEqual([0, null])
}

const hasFullDevice = fs.existsSync("/dev/full")

it.skipIf(!hasFullDevice)(
  `a server keeps running if its log is on a full disk${hasFullDevice ? "" : " (skipped: /dev/full is missing)"}`,
  async () => {
    const full = fs.openSync("/dev/full", "w")
    onTestFinished(() => fs.closeSync(full))
    const server = await serve(full)
    await failAndRecover(server)
    await stop(server)
  }
)

it("a server keeps running after the reader of its log has closed the pipe", async () => {
  const server = await serve("pipe", ({ stderr }) => void stderr?.destroy())
  await failAndRecover(server)
  await stop(server)
})

const canMakeFifo = spawnSync("mkfifo", ["--version"]).error === undefined

it.skipIf(!canMakeFifo)(
  `a server does not block if its log is never read${canMakeFifo ? "" : " (skipped: mkfifo is not installed)"}`,
  async () => {
    const filename = path.join(createDirectory(), "fifo")
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
    const server = await serve(writer)
    await failAndRecover(server)
    await stop(server)
  }
)

it("the log has one line per kind of failure plus summaries, not one line per request", async () => {
  let text = ""
  const server = await serve("pipe", ({ stderr }) => stderr?.on("data", (chunk) => (text += String(chunk))))
  await failAndRecover(server)
  await sleep(1_100)
  await stop(server)
  const lines = text.split("\n").filter((line) => line.includes("503"))
  expect(lines.length).toBeGreaterThan(3)
  expect(lines.length).toBeLessThan(12)
  expect(text).toMatch(/message="503 service_unavailable × [1-9][0-9,]* in [0-9.]+ s".*no such table: pets/)
})

it.skipIf(!hasFullDevice)("commands keep their exit codes if standard error cannot be written to", () => {
  const full = fs.openSync("/dev/full", "w")
  onTestFinished(() => fs.closeSync(full))
  const runCommand = (...args: ReadonlyArray<string>) => {
    const { status, stdout } = spawnSync(process.execPath, [main, ...args], {
      stdio: ["ignore", "pipe", full],
      encoding: "utf8",
      cwd: createDirectory()
    })
    return { status, lines: stdout.split("\n").length - 1 }
  }
  const database = ["--database", `sqlite:${path.join(createDirectory(), "x.db")}`]
  expect(runCommand("keys", "issue", "--plan", "Free", "--json", ...database)).toEqual({
    status: 0,
    lines: 1
  })
  expect(runCommand("keys", "revoke", "none", ...database)).toEqual({ status: 1, lines: 0 })
  expect(runCommand("keys", "issue", "--plan", "none", ...database)).toEqual({ status: 1, lines: 0 })
})
