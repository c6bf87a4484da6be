/** Tests the shutdown of `serve` in its own process: on every stop signal, clients lose no request. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { connect, type Socket } from "node:net"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import * as Durability from "./Durability.fixture.ts"
import * as Greeting from "./Greeting.fixture.ts"
import * as Load from "./Load.fixture.ts"
import * as Ports from "./Ports.fixture.ts"
import { environment, launch, main, start, stop } from "./Serve.fixture.ts"
import * as Terminal from "./Terminal.fixture.ts"

const CLIENTS = 8

/** The number of requests before the signal. */
const REQUESTS = 200

const TIMEOUT_MS = 180_000

const serve = async (...args: ReadonlyArray<string>) => {
  const limits = "Enterprise:perMinute=1000000,perDay=100000000"
  const server = await start([
    "--json",
    "--port",
    "0",
    "--database",
    "memory:",
    "--issue-key",
    limits,
    ...args
  ])
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  return server
}

describe.each<NodeJS.Signals>(["SIGTERM", "SIGHUP"])("serve on %s", (signal) => {
  it(
    "loses no request of keep-alive clients, sends Connection: close to each, and exits with 0 on a second signal",
    async () => {
      const { ended, key, process, url, waitForLog } = await serve("--drain", "1h")
      const next = Load.makeAnimals(4)
      const request = (index: number): Load.Request =>
        index % 2 === 0 ? { key, path: "/pets?limit=1" } : { key, path: "/pets", body: Load.bodyOf(next()) }
      let sent = 0
      const hammer = async (client: Load.Client): Promise<string> => {
        for (;;) {
          const index = sent++
          if (index === REQUESTS) process.kill(signal)
          try {
            const response = await client.send(request(index))
            if (![200, 201].includes(response.status)) return `status ${response.status}`
            if (response.header("connection") === "close") return "closed"
          } catch (error) {
            return `lost: ${error}`
          }
        }
      }
      expect(await Load.runClients([url], CLIENTS, hammer)).toEqual(Array(CLIENTS).fill("closed"))
      await waitForLog(
        /\nanimal-store: stopping; accepting requests for 1h, or until a second signal; then waiting for requests in flight\n$/
      )
      expect((await fetch(new URL("/readyz", url))).status).toBe(503)
      // Signals count as duplicates for some time after the first one.
      const timer = setInterval(() => process.kill(signal), 200)
      expect(await ended).toMatchObject({ code: 0, signal: null })
      clearInterval(timer)
    },
    TIMEOUT_MS
  )
})

const onTerminal = Terminal.missing === undefined ? "" : ` (skipped: ${Terminal.missing})`

describe.skipIf(Terminal.missing !== undefined).each([[[]], [["--workers", "2"]]])(
  `serve %j on Ctrl-C at a terminal${onTerminal}`,
  (workers: ReadonlyArray<string>) => {
    const start = async () => {
      const database = (await Databases.createForTest(Databases.sqlite)).address
      const plan = ["--issue-key", "Free", "--json"]
      const args = ["serve", "--port", "0", "--database", database, "--drain", "1h", ...plan, ...workers]
      const terminal = Terminal.launch(args)
      const [greeting] = await terminal.output.waitFor(/\{"url":.*\}/)
      const { key, url } = Greeting.read(greeting)
      const client = Load.connect(url)
      onTestFinished(client.close)
      // The connection stays open and idle.
      expect((await client.send({ key, path: "/pets" })).status).toBe(200)
      return { ...terminal, exited: once(terminal.child, "exit"), key, url }
    }

    /** Sends a request without its body; "100 Continue" proves that it is in flight. */
    const sendHead = async (url: string, key: string, length: number): Promise<Socket> => {
      const { hostname, port } = new URL(url)
      const socket = connect(Number(port), hostname)
      socket.on("error", () => undefined)
      socket.write(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
      )
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 100 /)
      return socket
    }

    it("ends without a drain period if no request is in flight, although a connection is open", async () => {
      const { exited, output, pressCtrlC, url } = await start()
      pressCtrlC()
      expect(await exited).toEqual([0, null])
      expect(await output.ended).toContain(
        "animal-store: stopping; waiting for requests in flight, or until a second SIGINT (Ctrl-C)\r\n"
      )
      expect(await Ports.refusesConnections(url)).toBe(true)
    })

    it("responds to a request in flight before it ends", async () => {
      const { exited, key, output, pressCtrlC, url } = await start()
      const body = '{"name":"Rex","categoryId":1}'
      const socket = await sendHead(url, key, body.length)
      pressCtrlC()
      await output.waitFor(/stopping/)
      socket.write(body)
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 201 /)
      expect(await exited).toEqual([0, null])
    })

    it("ends with 130 at the second Ctrl-C, although a request is in flight", async () => {
      const { exited, key, output, pressCtrlC, url } = await start()
      const closed = once(await sendHead(url, key, 1), "close")
      pressCtrlC()
      await output.waitFor(/stopping/)
      // Signals count as duplicates for some time after the first one.
      const timer = setInterval(pressCtrlC, 100)
      onTestFinished(() => clearInterval(timer))
      expect(await exited).toEqual([130, null])
      // With workers: the process that has the connection has ended, too.
      await closed
      expect(await Ports.refusesConnections(url)).toBe(true)
    })
  }
)

describe("serve on SIGTERM without a drain period", () => {
  it("responds to requests that were sent before, even on connections in the accept backlog", async () => {
    const { ended, key, process, url } = await serve()
    process.kill("SIGSTOP")
    const { hostname, port } = new URL(url)
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), hostname)
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      return socket
    })
    const responses = sockets.map(async (socket) => String((await once(socket, "data"))[0]))
    await Promise.all(sockets.map((socket) => once(socket, "connect")))
    process.kill("SIGTERM")
    process.kill("SIGCONT")
    const statusLines = (await Promise.all(responses)).map((response) => response.split("\r\n", 1)[0])
    expect(new Set(statusLines)).toEqual(new Set(["HTTP/1.1 200 OK"]))
    expect(await ended).toMatchObject({ code: 0, signal: null })
  })

  it(
    "responds under load to all requests that were sent before, and leaves an intact database file",
    () => Durability.expectCleanStop(Databases.sqlite),
    TIMEOUT_MS
  )

  it("exits while it waits for its database", async () => {
    const silent = await Ports.listen()
    const database = `postgres://u@127.0.0.1:${Ports.portOf(silent)}/x`
    const { child, ended } = launch(["serve", "--database", database, "--database-timeout", "60s"])
    await once(silent, "connection")
    child.kill("SIGTERM")
    expect(await ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" })
  })
})

const serveFlags = ["--json", "--port", "0", "--database", "memory:", "--drain", "500ms"]

interface Invocation {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
}

const npmStart = (): Invocation => ({
  command: "npm",
  args: ["start", "--silent", "--", ...serveFlags],
  cwd: fileURLToPath(new URL("../..", import.meta.url))
})

/** As `docs/operating.md` says, in a project where the package is installed. */
const npxExec = (): Invocation => {
  const cwd = Directory.create()
  const installed = path.join(cwd, "node_modules/.bin/animal-store")
  fs.mkdirSync(path.dirname(installed), { recursive: true })
  fs.writeFileSync(installed, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  return { command: "npx", args: ["-c", `exec animal-store serve ${serveFlags.join(" ")}`], cwd }
}

/** Starts a server through npm in its own process group, which identifies all its child processes. */
const startThroughNpm = async ({ args, command, cwd }: Invocation) => {
  const npm = spawn(command, args, {
    cwd,
    detached: true,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"]
  })
  onTestFinished(() => {
    if (isGroupAlive(npm)) process.kill(-(npm.pid ?? 0), "SIGKILL")
  })
  const [greeting] = await once(npm.stdout.setEncoding("utf8"), "data")
  return { npm, url: Greeting.read(greeting).url }
}

const isGroupAlive = ({ pid }: ChildProcess): boolean => {
  if (pid === undefined) return false
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

// Windows has neither signals nor process groups.
describe.skipIf(process.platform === "win32").each([
  ["npm start", npmStart],
  ["npx -c 'exec animal-store serve'", npxExec]
])("%s", (_, invocation) => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
    "stops the server when only npm gets %s, and leaves no process behind",
    async (signal) => {
      const { npm, url } = await startThroughNpm(invocation())
      expect((await fetch(`${url}/pets`)).status).toBe(401)
      npm.kill(signal)
      const [code] = await once(npm, "exit")
      expect(code).toBe(0)
      expect(await Ports.refusesConnections(url)).toBe(true)
      expect(isGroupAlive(npm)).toBe(false)
    }
  )
})
