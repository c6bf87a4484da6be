/** Tests nginx and Caddy with the files in this directory in front of a server, on free ports. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import { type AddressInfo, connect, createServer } from "node:net"
import { text } from "node:stream/consumers"
import { expect, it, onTestFinished } from "vitest"
import { type AnimalStore, openAnimalStore } from "../../adapters/embed/index.ts"
import { commandsOf, createDirectory, describeWith, read, shell } from "../Pages.fixture.ts"

const HOST = "animals.example.org"

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
  await new Promise((resolve) => server.close(resolve))
  return port
}

interface Ports {
  readonly http: number
  readonly https: number
  readonly server: number
}

/** Writes an nginx configuration that includes `nginx.conf` with other ports and paths, and returns its path. */
const writeConfiguration = (directory: string, ports: Ports): string => {
  const site = read("docs/deploying/nginx.conf")
    .replaceAll(/^ *listen \[::\].*\n/gm, "")
    .replace("listen 80;", `listen 127.0.0.1:${ports.http};`)
    .replace("listen 443 ssl;", `listen 127.0.0.1:${ports.https} ssl;`)
    .replace("127.0.0.1:3000", `127.0.0.1:${ports.server}`)
    .replaceAll(`/etc/letsencrypt/live/${HOST}/`, `${directory}/`)
  fs.writeFileSync(`${directory}/animal-store.conf`, site)
  const file = `${directory}/nginx.conf`
  const directories = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  fs.writeFileSync(
    file,
    `daemon off; master_process off; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  ${directories.map((name) => `${name}_temp_path ${directory}/${name};`).join("\n  ")}
  include ${directory}/animal-store.conf;
}
`
  )
  return file
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })

interface Received {
  readonly status: number | undefined
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** Starts a store, its server, and nginx in front of the server; stops them after the test. */
const start = async () => {
  const directory = createDirectory()
  const store: AnimalStore = await openAnimalStore({ trustedProxyHops: 1 })
  onTestFinished(() => store.close())
  const ports = { http: await freePort(), https: await freePort(), server: await freePort() }
  const server = http.createServer(store.nodeListener).listen(ports.server, "127.0.0.1")
  let connections = 0
  server.on("connection", () => connections++)
  await once(server, "listening")
  const stopServer = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(stopServer)

  const subject = `/CN=${HOST}`
  const certificate = `-keyout ${directory}/privkey.pem -out ${directory}/fullchain.pem -subj ${subject} -days 1`
  expect(shell(`openssl req -x509 -newkey rsa:2048 -nodes ${certificate}`).status).toBe(0)
  const file = writeConfiguration(directory, ports)
  const [check = ""] = commandsOf("nginx")
  const checked = shell(`${check.replace("sudo ", "")} -c ${file}`)
  expect(checked.status, checked.stderr).toBe(0)

  const nginx = spawn("nginx", ["-c", file], { stdio: "inherit" })
  const ended = once(nginx, "exit")
  onTestFinished(async () => {
    nginx.kill("SIGTERM")
    await ended
  })
  await expect.poll(() => isListening(ports.https)).toBe(true)

  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  onTestFinished(() => agent.destroy())
  const send = async (
    path: string,
    headers: http.OutgoingHttpHeaders = {},
    chunks: ReadonlyArray<string> = []
  ): Promise<Received> => {
    const method = chunks.length > 0 ? "POST" : "GET"
    const options = { host: "127.0.0.1", port: ports.https, servername: HOST, agent, method, path }
    const request = https.request({ ...options, headers: { Host: HOST, ...headers } })
    // A body in chunks is sent without Content-Length.
    for (const chunk of chunks) request.write(chunk)
    request.end()
    const [response]: Array<http.IncomingMessage> = await once(request, "response")
    if (response === undefined) throw new Error("no response")
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
  return { agent, connections: () => connections, ports, send, stopServer, store }
}

describeWith(["nginx", "openssl"], "nginx with nginx.conf", () => {
  it("terminates TLS, and redirects plain HTTP without changing the method", async () => {
    const { ports, send, store } = await start()
    const { key } = await store.keys.issue({ plan: "Free" })
    const { headers, status } = await send("/v1/pets", { Authorization: `Bearer ${key}` })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      "x-ratelimit-limit": "60",
      "strict-transport-security": "max-age=31536000"
    })
    const plain = await fetch(`http://127.0.0.1:${ports.http}/v1/pets?limit=1`, {
      redirect: "manual",
      method: "POST"
    })
    expect(plain.status).toBe(308)
    expect(plain.headers.get("Location")).toMatch(/^https:\/\/[^/]+\/v1\/pets\?limit=1$/)
  })

  it("passes on the client's address, so a forged X-Forwarded-For has no effect", async () => {
    const { ports, send } = await start()
    const remaining = async (forged: string): Promise<unknown> =>
      (await send("/v1/pets", { "X-Forwarded-For": forged })).headers["x-ratelimit-remaining"]
    expect([
      await remaining("203.0.113.1"),
      await remaining("203.0.113.2"),
      await remaining("x, 198.51.100.3")
    ]).toEqual(["59", "58", "57"])
    // A direct request shows that the server trusts the header of one proxy.
    const direct = await fetch(`http://127.0.0.1:${ports.server}/v1/pets`, {
      headers: { "X-Forwarded-For": "203.0.113.1" }
    })
    expect(direct.headers.get("X-RateLimit-Remaining")).toBe("59")
  })

  it("passes on chunked uploads and large responses unchanged", async () => {
    const { ports, send, store } = await start()
    const limits = { perMinute: 10_000, perDay: 10_000 }
    const { key } = await store.keys.issue({ plan: "Enterprise", limits })
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
    const name = "\u{1F98A}".repeat(60)
    for (let count = 0; count < 100; count++) {
      const created = await send("/v1/pets", headers, ['{"name":"', name, `","categoryId":${count}}`])
      expect(created.status).toBe(201)
    }
    const proxied = await send("/v1/pets?limit=100", headers)
    const direct = await fetch(`http://127.0.0.1:${ports.server}/v1/pets?limit=100`, { headers })
    expect(proxied.body).toBe(await direct.text())
    expect(proxied.body.length).toBeGreaterThan(10_000)
  })

  it("reuses one connection to the client and one to the server", async () => {
    const { agent, connections, send } = await start()
    for (let count = 0; count < 20; count++) await send("/livez")
    expect(connections()).toBe(1)
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1)
  })

  it("passes on the server's 429 with its headers, and its 413 for a long body", async () => {
    const { send, store } = await start()
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 2, perDay: 9 } })
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
    await send("/v1/pets", headers)
    const long = await send("/v1/pets", headers, [`{"name":"${"a".repeat(70_000)}"}`, " "])
    expect([long.status, JSON.parse(long.body)]).toMatchObject([413, { code: "payload_too_large" }])
    const denied = await send("/v1/pets", headers)
    expect(denied.status).toBe(429)
    expect(denied.headers["retry-after"]).toMatch(/^[1-9][0-9]*$/)
    expect(denied.headers["x-ratelimit-remaining"]).toBe("0")
    expect(JSON.parse(denied.body)).toMatchObject({ status: 429 })
  })

  it("returns 503 as JSON while the server is down, and recovers when it starts again", async () => {
    const { ports, send, stopServer, store } = await start()
    expect((await send("/livez")).status).toBe(200)
    await stopServer()
    const down = await send("/v1/pets")
    expect([down.status, down.headers["retry-after"], JSON.parse(down.body)]).toMatchObject([
      503,
      "1",
      { code: "service_unavailable", status: 503 }
    ])
    await store.listen({ port: ports.server })
    await expect.poll(async () => (await send("/livez")).status, { timeout: 60_000 }).toBe(200)
  })
})

describeWith(["caddy"], "the Caddyfile", () => {
  const validate = commandsOf("caddy")[0] ?? ""

  it("is accepted by caddy validate", () => {
    const directory = createDirectory()
    const { status, stderr } = shell(validate, undefined, { HOME: directory, XDG_DATA_HOME: directory })
    expect(status, stderr).toBe(0)
  })

  it("replaces X-Forwarded-For, and returns 503 as JSON while the server is down", async () => {
    const directory = createDirectory()
    const store = await openAnimalStore({ trustedProxyHops: 1 })
    onTestFinished(() => store.close())
    const [port, server] = [await freePort(), await freePort()]
    const site = read("docs/deploying/Caddyfile")
      .replace(`${HOST} {`, `http://127.0.0.1:${port} {`)
      .replace("127.0.0.1:3000", `127.0.0.1:${server}`)
    fs.writeFileSync(`${directory}/Caddyfile`, `{\n\tadmin off\n}\n${site}`)
    const caddy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", `${directory}/Caddyfile`], {
      env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
      stdio: "ignore"
    })
    const ended = once(caddy, "exit")
    onTestFinished(async () => {
      caddy.kill("SIGTERM")
      await ended
    })
    await expect.poll(() => isListening(port), { timeout: 60_000 }).toBe(true)
    const get = (forged: string) =>
      fetch(`http://127.0.0.1:${port}/v1/pets`, { headers: { "X-Forwarded-For": forged } })
    const down = await get("203.0.113.1")
    expect([down.status, await down.json()]).toMatchObject([503, { code: "service_unavailable" }])
    await store.listen({ port: server })
    await expect.poll(async () => (await get("203.0.113.1")).status, { timeout: 60_000 }).toBe(401)
    const [first, second] = [await get("203.0.113.2"), await get("203.0.113.3")]
    const remaining = (response: Response) => Number(response.headers.get("X-RateLimit-Remaining"))
    expect(remaining(second)).toBe(remaining(first) - 1)
  })
})
