/** Starts a temporary Redis server for a run, without persistence. */
import { execFileSync, spawn } from "node:child_process"
import * as net from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import * as Result from "effect/Result"
import * as DatabaseAddress from "../adapters/embed/DatabaseAddress.ts"

/** A running server. */
export interface RedisServer {
  readonly address: string
  readonly version: string
  /** The process id of the server. */
  readonly pid: number | undefined
  readonly stop: () => Promise<void>
}

/** The reason why no server was started. */
export interface Unavailable {
  readonly reason: string
}

const READY_MS = 5_000

/** Starts `redis-server` on a free port, if it is installed and this version of the project accepts its address. */
export const start = async (): Promise<RedisServer | Unavailable> => {
  const parsed = DatabaseAddress.parse("redis://127.0.0.1:6379")
  if (Result.isFailure(parsed))
    return { reason: `this version does not support limits in Redis: ${parsed.failure}` }
  const version = versionOf()
  if (version === undefined) return { reason: "redis-server is not installed" }
  const port = await freePort()
  const server = spawn(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
    { stdio: "ignore" }
  )
  const closed = new Promise<void>((resolve) => {
    server.on("error", () => resolve())
    server.on("close", () => resolve())
  })
  const stop = async (): Promise<void> => {
    server.kill()
    await closed
  }
  const isReady = await Promise.race([becomesReady(port), closed.then(() => false)])
  if (!isReady) {
    await stop()
    return { reason: `redis-server did not listen within ${READY_MS / 1_000} s` }
  }
  return { address: `redis://127.0.0.1:${port}`, version, pid: server.pid, stop }
}

const versionOf = (): string | undefined => {
  try {
    return /v=([\d.]+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1]
  } catch {
    return undefined
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => {
        if (typeof address === "object" && address !== null) resolve(address.port)
        else reject(new Error("the listening server has no port"))
      })
    })
  })

const becomesReady = async (port: number): Promise<boolean> => {
  const deadline = performance.now() + READY_MS
  while (performance.now() < deadline) {
    if (await ping(port)) return true
    await pause(50)
  }
  return false
}

const ping = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write("PING\r\n"))
    socket.on("data", (data) => {
      resolve(data.toString("latin1").startsWith("+PONG"))
      socket.destroy()
    })
    socket.on("error", () => resolve(false))
  })
