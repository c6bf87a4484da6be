/** Starts `serve --workers` in separate processes, and opens connections to known workers. */
import { execFileSync } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { onTestFinished } from "vitest"
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

export interface Server {
  readonly server: ServerProcess
  readonly url: string
  readonly key: string
  /** All issued keys: `key`, then those of further `--issue-key` flags. */
  readonly keys: ReadonlyArray<string>
  /** The process ids of the workers. */
  readonly workers: () => ReadonlyArray<number>
}

/** A plan without effective limits. */
export const UNLIMITED = "Enterprise:perMinute=1000000,perDay=100000000"

/** Starts a server with a key; the workers are killed at the end of the test. */
export const serve = async (
  count: number | "auto",
  database: string,
  args: ReadonlyArray<string> = [],
  { plan = UNLIMITED, environment = {} }: { readonly plan?: string; readonly environment?: Environment } = {}
): Promise<Server> => {
  const server = await start(
    [
      "--workers",
      String(count),
      "--json",
      "--port",
      "0",
      "--database",
      database,
      "--issue-key",
      plan,
      ...args
    ],
    environment
  )
  const workers = (): ReadonlyArray<number> => childrenOf(server.process.pid ?? 0)
  onTestFinished(async () => {
    const pids = workers()
    await stop(server, "SIGKILL")
    for (const pid of pids) killIfAlive(pid)
  })
  const announced: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(server.greeting)
  const keys = announced.keys.map(({ key }) => key)
  return { server, url: announced.url, key: keys[0] ?? "", keys, workers }
}

const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    const output = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    return output.trim().split("\n").map(Number)
  } catch {
    return []
  }
}

const killIfAlive = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process has exited.
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

/** Waits until a condition is true; fails after ten seconds. */
export const waitUntil = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 10_000
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`the condition was not true within ten seconds: ${condition}`)
    await sleep(20)
  }
}

/** Returns the worker that sent a response: the beginning of its request id, which differs between processes. */
export const workerOf = (response: Load.LoadResponse): string =>
  response.header("x-request-id").replace(/-[^-]*$/, "")

/** Opens connections until there is one to each of `count` workers. */
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
