/** Tests the shutdown of `serve`: on every stop signal, clients lose no request. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Load from "./Load.fixture.ts"
import { start, stop } from "./Serve.fixture.ts"

const CLIENTS = 16

const limits = "Enterprise:perMinute=1000000,perDay=100000000"

interface Announced {
  readonly url: string
  readonly keys: ReadonlyArray<{ readonly key: string }>
}

const serve = async (drain: string) => {
  const server = await start(
    ["--json", "--port", "0", "--database", "memory:", "--issue-key", limits],
    // The variable overrides the default of the fixture.
    { ANIMAL_STORE_DRAIN: drain }
  )
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  const { keys, url }: Announced = JSON.parse(server.greeting)
  const origin = new URL(url).origin
  return { server, url, key: keys[0]?.key ?? "", probeReadiness: () => fetch(`${origin}/readyz`) }
}

const refusesConnections = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => {
      socket.destroy()
      resolve(false)
    })
    socket.once("error", () => resolve(true))
  })

const makeRequests = (key: string) => {
  const next = Load.makeAnimals(4)
  return (index: number): Load.Request =>
    index % 2 === 0 ? { key, path: "/pets?limit=1" } : { key, path: "/pets", body: Load.bodyOf(next()) }
}

describe.each<NodeJS.Signals>(["SIGTERM", "SIGINT", "SIGHUP"])("serve on %s", (signal) => {
  it("loses no request of keep-alive clients under load, and sends Connection: close to each", async () => {
    const { key, server, url } = await serve("2s")
    const request = makeRequests(key)
    let sent = 0
    const hammer = async (client: Load.Client): Promise<string> => {
      for (;;) {
        const index = sent++
        if (index === 500) server.process.kill(signal)
        try {
          const response = await client.send(request(index))
          if (![200, 201].includes(response.status)) return `status ${response.status}`
          if (response.header("connection") === "close") return "closed"
        } catch (error) {
          return `lost: ${error}`
        }
      }
    }
    const outcomes = await Load.runClients([url], CLIENTS, hammer)
    expect(outcomes).toEqual(Array.from({ length: CLIENTS }, () => "closed"))
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
  })

  it("exits immediately with code 0 if there was no request", async () => {
    const { server } = await serve("1h")
    expect(await stop(server, signal)).toMatchObject({
      code: 0,
      signal: null,
      stderr: expect.stringMatching(
        /\nanimal-store: stopping; accepting requests for 1h, or until a second signal; then waiting for requests in flight\n$/
      )
    })
  })
})

describe("the drain period", () => {
  it("lasts until a second signal, not a duplicate one; requests succeed, and /readyz returns 503", async () => {
    const { key, probeReadiness, server, url } = await serve("1h")
    expect((await probeReadiness()).status).toBe(200)
    // A terminal's SIGINT reaches the server twice when npm forwards it.
    server.process.kill("SIGINT")
    server.process.kill("SIGINT")
    await server.waitForLog(/stopping/)
    const signaledAt = performance.now()
    do {
      const notReady = await probeReadiness()
      expect([notReady.status, notReady.headers.get("connection")]).toEqual([503, "close"])
      const client = Load.connect(url)
      const created = await client.send({ key, path: "/pets", body: '{"name":"Rex","categoryId":1}' })
      client.close()
      expect([created.status, created.header("connection")]).toEqual([201, "close"])
    } while (performance.now() - signaledAt < 1_500)
    server.process.kill("SIGTERM")
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
    expect(await refusesConnections(url)).toBe(true)
  })

  it("ends after its duration", async () => {
    const { probeReadiness, server, url } = await serve("300ms")
    await probeReadiness()
    expect(await stop(server)).toMatchObject({ code: 0, signal: null })
    expect(await refusesConnections(url)).toBe(true)
  })

  it("ends early on a second signal, and requests in flight still finish", async () => {
    const { key, probeReadiness, server, url } = await serve("1h")
    await probeReadiness()
    const body = '{"name":"Rex","categoryId":1}'
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    )
    // The server sends "100 Continue" after it has admitted the request, so the request is in flight.
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 100 /)
    server.process.kill("SIGTERM")
    await server.waitForLog(/stopping/)
    while (!(await refusesConnections(url))) {
      server.process.kill("SIGTERM")
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    socket.write(body)
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
  })
})

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Runs `npm start` in its own process group, which identifies all its child processes. */
const npmStart = async (): Promise<{ readonly npm: ChildProcess; readonly url: string }> => {
  const args = [
    "start",
    "--silent",
    "--",
    "--json",
    "--port",
    "0",
    "--database",
    "memory:",
    "--drain",
    "500ms"
  ]
  const npm = spawn("npm", args, { cwd: repository, detached: true, stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => {
    if (isGroupAlive(npm)) process.kill(-(npm.pid ?? 0), "SIGKILL")
  })
  const [greeting] = await once(npm.stdout.setEncoding("utf8"), "data")
  const { url }: Announced = JSON.parse(greeting)
  return { npm, url }
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
describe.skipIf(process.platform === "win32")("npm start", () => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
    "drains the server when only npm gets %s, and leaves no process behind",
    async (signal) => {
      const { npm, url } = await npmStart()
      expect((await fetch(`${url}/pets`)).status).toBe(401)
      npm.kill(signal)
      const [code] = await once(npm, "exit")
      expect(code).toBe(0)
      expect(await refusesConnections(url)).toBe(true)
      expect(isGroupAlive(npm)).toBe(false)
    }
  )
})
