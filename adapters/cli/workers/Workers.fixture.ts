/** Starts `serve --workers` in separate processes, and opens connections to known workers. */
import { execFileSync } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, onTestFinished } from "vitest"
import * as Load from "../Load.fixture.ts"
import { type Environment, type ServerProcess, start, stop } from "../Serve.fixture.ts"

/** Why this machine cannot send signals to workers, or `undefined` if it can. */
export const missing: string | undefined = ((): string | undefined => {
  if (process.platform === "win32") return "Windows has no signals"
  try {
    execFileSync("pgrep", ["-P", "1"])
  } catch (error) {
    // Code 1 means that no process matched.
    if (!(error instanceof Error && "status" in error && error.status === 1)) return "pgrep is not installed"
  }
  return undefined
})()

/** Defines tests of workers. If this machine cannot run them, they are skipped with the reason in the title. */
export const describeWorkers = (title: string, tests: () => void): void => {
  if (missing === undefined) describe(title, tests)
  else describe.skip(`${title} (skipped: ${missing})`, tests)
}

export interface Server extends ServerProcess {
  /** The process ids of the workers. */
  readonly workers: () => ReadonlyArray<number>
  /** The base URL of the admin port; fails without `--admin-port`. */
  readonly admin: () => Promise<string>
  /** Kills the server and its workers. */
  readonly kill: () => Promise<void>
}

/** A plan without effective limits. */
export const UNLIMITED = "Enterprise:perMinute=1000000,perDay=100000000"

export interface Settings {
  readonly plan?: string
  readonly environment?: Environment
}

/** Starts a server that issues a key of the plan. */
export const launch = async (
  count: number | "auto",
  database: string,
  args: ReadonlyArray<string> = [],
  { plan = UNLIMITED, environment = {} }: Settings = {}
): Promise<Server> => {
  const given = ["--workers", String(count), "--database", database, "--issue-key", plan]
  const server = await start(["--json", "--port", "0", ...given, ...args], environment)
  const workers = (): ReadonlyArray<number> => childrenOf(server.process.pid ?? 0)
  return {
    ...server,
    workers,
    admin: async () => (await server.waitForLog(/metrics on (http:[^\s"]+)\/metrics/))[1] ?? "",
    kill: async () => {
      const pids = workers()
      await stop(server, "SIGKILL")
      for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL")
    }
  }
}

/** Like `launch`; the server and its workers are killed at the end of the test. */
export const serve = async (...args: Parameters<typeof launch>): Promise<Server> => {
  const server = await launch(...args)
  onTestFinished(server.kill)
  return server
}

const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    const output = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    return output.trim().split("\n").map(Number)
  } catch {
    return []
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits until a condition is true; fails after a minute. */
export const waitUntil = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`the condition was not true within a minute: ${condition}`)
    await sleep(20)
  }
}

/** Returns the worker that sent a response: the beginning of its request id, which differs between processes. */
export const workerOf = (response: Load.LoadResponse): string =>
  response.header("x-request-id").replace(/-[^-]*$/, "")

/** Opens connections until there is one to each of `count` workers; all are closed after the test. */
export const connectToEach = async (
  { key, url }: Pick<Server, "key" | "url">,
  count: number
): Promise<ReadonlyMap<string, Load.Client>> => {
  const clients = new Map<string, Load.Client>()
  onTestFinished(() => {
    for (const client of clients.values()) client.close()
  })
  for (let attempt = 0; clients.size < count; attempt++) {
    if (attempt === 100) throw new Error(`${clients.size} of ${count} workers accept connections`)
    const client = Load.connect(url)
    const worker = workerOf(await client.send({ key, path: "/pets?limit=1" }))
    if (clients.has(worker)) client.close()
    else clients.set(worker, client)
  }
  return clients
}

/** Returns the value of a series in the text format of Prometheus; NaN if it is missing. */
export const valueOf = (text: string, series: string): number =>
  Number(new RegExp(`^${series.replaceAll(/[{}"]/g, "\\$&")} (.*)$`, "m").exec(text)?.[1])
