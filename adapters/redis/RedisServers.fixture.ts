/** Starts real servers for tests, each in its own process on a free loopback port, without persistence. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as Net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createClient } from "redis"
import { describe, onTestFinished } from "vitest"
import * as KeySlot from "./KeySlot.ts"

/** A server program that implements the Redis protocol. */
export interface Kind {
  readonly name: "Redis" | "Valkey"
  readonly program: string
  /** The reason why it cannot be tested here, or `undefined`. */
  readonly missing: string | undefined
}

const kindOf = (name: Kind["name"], program: string): Kind => {
  const { error, status } = spawnSync(program, ["--version"], { stdio: "ignore" })
  const isInstalled = error === undefined && status === 0
  if (!isInstalled) console.warn(`${name} tests are skipped: ${program} is not installed`)
  return { name, program, missing: isInstalled ? undefined : `${program} is not installed` }
}

/** The kind for tests that run on only one kind. */
export const redis: Kind = kindOf("Redis", "redis-server")

/** Redis and Valkey. */
export const kinds: ReadonlyArray<Kind> = [redis, kindOf("Valkey", "valkey-server")]

/** Defines tests on a kind of server. If it is not installed, they are skipped with the reason in the title. */
export const describeOn = (kind: Kind, title: string, tests: () => void): void => {
  if (kind.missing === undefined) describe(`${title} on ${kind.name}`, tests)
  else describe.skip(`${title} on ${kind.name} (skipped, ${kind.missing})`, tests)
}

/** A client for commands that the stores do not send. */
export interface Client {
  readonly send: (...command: ReadonlyArray<string>) => Promise<unknown>
  readonly close: () => void
}

/** A running server. */
export interface Server {
  readonly port: number
  /** The address, in the format of `--limits`. */
  readonly address: string
  readonly connect: () => Promise<Client>
  /** Sends one command over a separate connection. */
  readonly send: Client["send"]
  /** Suspends the process, which keeps its connections, until `resume` is called. */
  readonly pause: () => void
  readonly resume: () => void
  /** Kills the process. */
  readonly kill: () => Promise<void>
  /** Restarts the process on the same port, without data. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

const findFreePort = async (): Promise<number> => {
  const listener = Net.createServer().listen(0, "127.0.0.1")
  await once(listener, "listening")
  const address = listener.address()
  if (typeof address !== "object" || address === null) throw new Error("not a TCP listener")
  listener.close()
  await once(listener, "close")
  return address.port
}

const START_MS = 60_000

/** Connects, and retries for `START_MS` until the server listens. */
export const connect = async (url: string, tls: { readonly ca?: Buffer } = {}): Promise<Client> => {
  const startedAt = performance.now()
  while (true) {
    const client = createClient({
      url,
      socket: { reconnectStrategy: false, ...(tls.ca === undefined ? {} : { tls: true, ca: tls.ca }) }
    })
    client.on("error", () => {})
    try {
      await client.connect()
      return { send: (...command) => client.sendCommand([...command]), close: () => client.destroy() }
    } catch (error) {
      client.destroy()
      if (performance.now() - startedAt > START_MS) throw error
      await sleep(20)
    }
  }
}

/** Starts a server; `args` are further arguments of the program. */
export const start = async (
  kind: Kind,
  args: ReadonlyArray<string> = [],
  options: { readonly port?: number; readonly url?: (port: number) => string; readonly ca?: Buffer } = {}
): Promise<Server> => {
  const port = options.port ?? (await findFreePort())
  const url = (options.url ?? ((number: number) => `redis://127.0.0.1:${number}`))(port)
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-redis-"))
  const connectClient = () => connect(url, options.ca === undefined ? {} : { ca: options.ca })
  let child: ChildProcess | undefined

  const spawnServer = async (): Promise<void> => {
    child = spawn(
      kind.program,
      [
        ...[
          options.ca === undefined ? "--port" : "--tls-port",
          String(port),
          "--bind",
          "127.0.0.1",
          "--save",
          "",
          "--appendonly",
          "no"
        ],
        ...["--dir", directory, "--loglevel", "warning", ...args]
      ],
      { stdio: "ignore" }
    )
    const client = await connectClient()
    client.close()
  }

  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill("SIGCONT")
    child.kill("SIGKILL")
    await exited
  }

  const stop = async (): Promise<void> => {
    await kill()
    fs.rmSync(directory, { recursive: true, force: true })
  }

  await spawnServer().catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return {
    port,
    address: url,
    connect: connectClient,
    send: async (...command) => {
      const client = await connectClient()
      try {
        return await client.send(...command)
      } finally {
        client.close()
      }
    },
    pause: () => child?.kill("SIGSTOP"),
    resume: () => child?.kill("SIGCONT"),
    kill,
    restart: spawnServer,
    stop
  }
}

/** Starts a server that is stopped after the current test. */
export const startForTest = async (...args: Parameters<typeof start>): Promise<Server> => {
  const server = await start(...args)
  onTestFinished(server.stop)
  return server
}

/** A running cluster. */
export interface Cluster {
  readonly nodes: ReadonlyArray<Server>
  /** The address, in the format of `--limits`. */
  readonly address: string
  /** Sends a command to the node that contains the key. */
  readonly send: (key: string, ...command: ReadonlyArray<string>) => Promise<unknown>
  readonly stop: () => Promise<void>
}

const NODES = 3

/** Waits until a condition is true; throws after `START_MS`. */
export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const startedAt = performance.now()
  while (!(await condition())) {
    if (performance.now() - startedAt > START_MS) throw new Error("the condition was not met in time")
    await sleep(20)
  }
}

/** Starts a cluster of three primaries, each with a third of the slots, and the given number of replicas. */
export const startCluster = async (kind: Kind, replicas = 0): Promise<Cluster> => {
  const nodes: Array<Server> = []
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    for (let count = 0; count < NODES + replicas; count++) {
      const busPort = await findFreePort()
      const args = [
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        String(busPort),
        "--cluster-node-timeout",
        "1000"
      ]
      const node = await start(kind, args)
      nodes.push(node)
      if (count < NODES) {
        const from = Math.ceil((count * KeySlot.SLOTS) / NODES)
        const to = Math.ceil(((count + 1) * KeySlot.SLOTS) / NODES) - 1
        await node.send("CLUSTER", "ADDSLOTSRANGE", String(from), String(to))
      }
      await nodes[0]?.send("CLUSTER", "MEET", "127.0.0.1", String(node.port), String(busPort))
    }
    for (const [index, node] of nodes.entries()) {
      await until(
        async () =>
          /cluster_known_nodes:(\d+)/.exec(String(await node.send("CLUSTER", "INFO")))?.[1] ===
          String(nodes.length)
      )
      if (index < NODES) continue
      const primary = nodes[index - NODES]
      const id = String(await primary?.send("CLUSTER", "MYID"))
      await node.send("CLUSTER", "REPLICATE", id)
      await until(async () =>
        String(await node.send("INFO", "replication")).includes("master_link_status:up")
      )
    }
    for (const node of nodes) {
      await until(async () => String(await node.send("CLUSTER", "INFO")).includes("cluster_state:ok"))
    }
  } catch (error) {
    await stop()
    throw error
  }
  const clients = await Promise.all(nodes.slice(0, NODES).map((node) => node.connect()))
  return {
    nodes,
    address: `redis://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    send: (key, ...command) => {
      const client = clients[Math.floor((KeySlot.of(key) * NODES) / KeySlot.SLOTS)]
      if (client === undefined) throw new Error("no node owns the slot")
      return client.send(...command)
    },
    stop: async () => {
      for (const client of clients) client.close()
      await stop()
    }
  }
}
