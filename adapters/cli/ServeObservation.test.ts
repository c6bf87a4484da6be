/** Tests the logging, metrics and tracing flags of `serve`, with servers inside the test process. */
import { once } from "node:events"
import * as net from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Receiver from "../embed/OtlpReceiver.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import { run, type Server, serveJson, serve as startServer } from "./CommandLine.fixture.ts"
import * as Ports from "./Ports.fixture.ts"

/** Waits up to a minute for a change, because the machine may be busy. */
const POLL_OPTIONS = { timeout: 60_000 }

const serve = (...args: ReadonlyArray<string>) => serveJson(args)

const adminUrl = async ({ waitForLog }: Server): Promise<string> =>
  (await waitForLog(/metrics on (http:\S+)\/metrics/))[1] ?? ""

describe("the access log of serve", () => {
  it("is off if standard error is not a terminal, and on with --access-log", async () => {
    const quiet = await serve()
    await quiet.get("/pets")
    expect((await quiet.stop()).stderr).not.toContain("message=response")
    const noisy = await serve("--access-log")
    const response = await noisy.get("/pets")
    const { stderr } = await noisy.stop()
    expect(stderr).toMatch(/^timestamp=\S+ level=INFO message="key issued" key=key_\w+ plan=Free$/m)
    expect(stderr).toMatch(
      new RegExp(
        `^timestamp=\\S+ level=INFO message=response request=${response.headers.get("X-Request-Id")} ` +
          "network=127.0.0.1 method=GET " +
          "route=/v1/pets status=200 key=key_\\w+ plan=Free ms=[0-9.]+ bytes=2$",
        "m"
      )
    )
    expect(stderr).not.toContain(noisy.key)
  })

  it.each([
    ["on", [], 1],
    ["off with --no-access-log", ["--no-access-log"], 0],
    ["off with --log-level warn", ["--log-level", "warn"], 0]
  ])("is %s if standard error is a terminal", async (_, args, count) => {
    const { get, stop } = await serveJson(args, {}, { isTerminal: true })
    await get("/pets")
    expect((await stop()).stderr.match(/\/v1\/pets/g)?.length ?? 0).toBe(count)
  })
})

describe("--request-id-header", () => {
  it("adds the client's own id to the access log, which also has the escaped path if no resource has it", async () => {
    const server = await serve(
      "--access-log",
      "--request-id-header",
      "X-Correlation-Id",
      "--log-format",
      "json"
    )
    await fetch(new URL('/nothing%0a/"x?secret=1', server.url), { headers: { "X-Correlation-Id": 'a"b' } })
    const { stderr } = await server.stop()
    const line = stderr.split("\n").find((text) => text.includes('"response"')) ?? ""
    expect(JSON.parse(line)).toMatchObject({
      clientRequest: 'a"b',
      network: "127.0.0.1",
      path: "/nothing%0a/%22x",
      status: 401
    })
    expect(stderr).not.toContain("secret")
  })

  it.each(["a b", "Authorization", "Cookie"])(
    "rejects %j, which is no name or carries credentials",
    async (name) => {
      const { code, stderr } = await run(["serve", "--database", "memory:", "--request-id-header", name])
      expect(code).toBe(1)
      expect(stderr).toContain("--request-id-header")
      expect(stderr).toContain("must be the name of a header that carries no credentials")
    }
  )
})

describe("the log of serve", () => {
  it("has only lines of JSON with --log-format json", async () => {
    const { get, stop } = await serve("--log-format", "json", "--access-log")
    const response = await get("/pets")
    const { stderr } = await stop()
    const lines = stderr.split("\n").filter((line) => line.startsWith("{"))
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: "info", message: "key issued", plan: "Free" }),
      expect.objectContaining({
        message: "response",
        request: response.headers.get("X-Request-Id"),
        status: 200
      }),
      expect.objectContaining({ level: "info", message: expect.stringMatching(/^stopping/) })
    ])
    expect(stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([])
  })

  const json = ["--log-format", "json"]
  const parsed = (output: string): ReadonlyArray<unknown> =>
    output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))

  it("is JSON on standard output too, without a key, even on a terminal", async () => {
    const { greeting, stop } = await startServer([...json, "--admin-port", "0"], {}, { isTerminal: true })
    const { stderr } = await stop()
    expect(parsed(greeting)).toEqual([
      expect.objectContaining({
        level: "info",
        message: "animal-store listens",
        url: expect.stringMatching(/^http:.*\/v1$/),
        database: "memory:"
      })
    ])
    expect(parsed(stderr)[0]).toMatchObject({ message: expect.stringMatching(/^metrics on http:/) })
  })

  it.each([[["--issue-key", "Pro", "--issue-key", "Free"]], [["--first-key"]]])(
    "has keys in JSON on standard output only for %j",
    async (args) => {
      const { greeting, stop } = await startServer([...json, ...args])
      await stop()
      const [, ...keys] = parsed(greeting)
      expect(keys).toHaveLength(args.length === 1 ? 1 : 2)
      for (const key of keys) {
        expect(key).toEqual(
          expect.objectContaining({
            message: "key issued, shown only now",
            key: expect.stringMatching(/^key_/),
            secret: expect.stringMatching(/^ast_/)
          })
        )
      }
    }
  )

  it.each([
    [["--port", "x"], /^--port: must be/],
    [["--bogus"], /--bogus/],
    [["--database", "sqlite:/dev/null/a.db"], /^--database \(ANIMAL_STORE_DATABASE\): /],
    [["--database", "memory:", "--workers", "2"], /^--workers \(ANIMAL_STORE_WORKERS\): /],
    [
      ["--admin-port", "1", "--admin-host", "192.0.2.1"],
      /^--admin-port .*: cannot listen on 192\.0\.2\.1:1: /
    ]
  ])("has only JSON if startup fails because of %j", async (args, message) => {
    for (const [flags, variables] of [
      [json, {}],
      [["--log-format=json"], {}],
      [[], { ANIMAL_STORE_LOG_FORMAT: "json" }],
      [[], { ANIMAL_STORE_LOG_FORMAT: "json\n" }]
    ] as const) {
      const settings = { ANIMAL_STORE_DATABASE: "memory:", ANIMAL_STORE_PORT: "0", ...variables }
      const { code, stderr, stdout } = await run(["serve", ...flags, ...args], settings)
      expect([code, stdout]).toEqual([1, ""])
      const lines = parsed(stderr)
      expect(lines.length).toBeGreaterThan(0)
      for (const line of lines) {
        expect(line).toMatchObject({ time: expect.stringMatching(/Z$/), level: "error" })
      }
      expect(lines[0]).toMatchObject({ message: expect.stringMatching(message) })
    }
  })

  it("is empty with --log-level none, even when the server stops", async () => {
    const { get, stop } = await serve("--log-level", "none", "--access-log", "--admin-port", "0")
    await get("/pets")
    expect((await stop()).stderr).toBe("")
  })
})

describe("serve with invalid observation flags", () => {
  it.each([
    [["--log-format", "xml"], "--log-format: must be one of text, json, columns"],
    [["--log-level", "loud"], "--log-level: must be one of trace, debug, info, warn, error, none"],
    [["--admin-allowed-host", "a:9464"], "--admin-allowed-host: must be a host name without a port"],
    [["--otlp", "localhost:4318"], "--otlp: must be an http(s) URL without credentials"],
    [["--trace-sample", "2"], "--trace-sample: must be a number from 0 to 1"]
  ])("rejects %j and states why", async (args, message) => {
    const { code, stderr } = await run(["serve", "--database", "memory:", ...args])
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })
})

describe("the admin port", () => {
  it("serves /metrics, /livez and /readyz without a key, and does not count these requests", async () => {
    const server = await serve("--admin-port", "0")
    const admin = await adminUrl(server)
    await server.get("/pets")
    const page = await fetch(`${admin}/metrics`)
    expect(page.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8")
    const text = await page.text()
    expect(text).toContain(
      'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/v1/pets"'
    )
    expect([(await fetch(`${admin}/livez`)).status, (await fetch(`${admin}/readyz`)).status]).toEqual([
      200, 200
    ])
    expect((await fetch(`${admin}/v1/pets`)).status).toBe(404)
    expect((await fetch(`${admin}/metrics`, { method: "POST" })).status).toBe(405)
    const laterMetrics = await (await fetch(`${admin}/metrics`)).text()
    expect(laterMetrics).toMatch(/^animal_store_admissions_total\{outcome="admitted",plan="Free"\} 1$/m)
    expect((await server.stop()).code).toBe(0)
  })

  it("returns 503 on /readyz during the drain, and does not prevent the server from ending", async () => {
    const server = await serve("--admin-port", "0", "--drain", "1h")
    const admin = await adminUrl(server)
    await server.get("/pets")
    server.interrupt()
    await server.waitForLog(/stopping/)
    await expect.poll(async () => (await fetch(`${admin}/readyz`)).status, POLL_OPTIONS).toBe(503)
    expect((await server.stop()).code).toBe(0)
  })

  it.each([100, 1_000])(
    "responds within a second or two while %i connections send nothing",
    async (count) => {
      const admin = new URL(await adminUrl(await serve("--admin-port", "0")))
      const connect = () => net.connect(Number(admin.port), admin.hostname)
      const silent = Array.from({ length: count }, connect)
      onTestFinished(() => {
        for (const socket of silent) socket.destroy()
      })
      const closed = new Set<net.Socket>()
      await Promise.all(
        silent.map((socket) => {
          socket.on("error", () => undefined).once("close", () => closed.add(socket))
          return Promise.race([once(socket, "connect"), once(socket, "close")])
        })
      )
      for (let probes = 0; probes < 5; probes++) {
        const response = await fetch(new URL("/livez", admin), {
          headers: { Connection: "close" },
          signal: AbortSignal.timeout(5_000)
        })
        expect(response.status).toBe(200)
      }
      // The others are closed later, because they send no request in time.
      await expect.poll(() => closed.size, POLL_OPTIONS).toBeGreaterThanOrEqual(count - 100)
    }
  )

  it("serves a request that arrives with hundreds of connections at the same time", async () => {
    const admin = new URL(await adminUrl(await serve("--admin-port", "0")))
    const connect = () => {
      const socket = net.connect(Number(admin.port), admin.hostname).on("error", () => undefined)
      onTestFinished(() => void socket.destroy())
      return socket
    }
    const busy = connect()
    busy.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for (let count = 0; count < 300; count++) connect()
    expect(String((await once(busy, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /)
  })

  it("closes a connection with pipelined requests, whose responses would fill the memory", async () => {
    const admin = new URL(await adminUrl(await serve("--admin-port", "0")))
    const socket = net.connect(Number(admin.port), admin.hostname).on("error", () => undefined)
    onTestFinished(() => void socket.destroy())
    let received = ""
    socket.on("data", (data) => {
      received += String(data)
    })
    socket.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_000))
    await once(socket, "close")
    expect(received.split("HTTP/1.1 200").length - 1).toBeLessThan(2)
    expect((await fetch(new URL("/livez", admin))).status).toBe(200)
  })

  it("rejects names in Host with 421 unless they are allowed, because a web page could use its own name", async () => {
    const own = await serve("--admin-port", "0", "--admin-allowed-host", "metrics.example.com")
    const { hostname, port } = new URL(await adminUrl(own))
    const statusFor = async (host: string): Promise<string> => {
      const socket = net.connect(Number(port), hostname)
      onTestFinished(() => void socket.destroy())
      socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      return String((await once(socket, "data"))[0]).slice(9, 12)
    }
    const allowed = [
      "127.0.0.1",
      `localhost:${port}`,
      "10.0.0.7:9464",
      "[::1]:9464",
      "Metrics.Example.com:80"
    ]
    for (const host of allowed) expect([host, await statusFor(host)]).toEqual([host, "200"])
    const rejected = [
      "evil.example",
      "example.com",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "x:1:2",
      ""
    ]
    for (const host of rejected) expect([host, await statusFor(host)]).toEqual([host, "421"])
  })

  it("makes startup fail with one line if its port is taken", async () => {
    const port = String(await Ports.occupy())
    const { code, stderr } = await run([
      "serve",
      "--database",
      "memory:",
      "--port",
      "0",
      "--admin-port",
      port
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^animal-store: --admin-port \(ANIMAL_STORE_ADMIN_PORT\): cannot listen on 127\.0\.0\.1:\d+:.*\n$/
    )
  })
})

/** An address of this machine other than the default of `--admin-host`, where the platform has one. */
const adminHost = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1"

/** Opens a connection, and returns the beginning of a response on it; an empty string if the server closes it. */
const probe = async (url: string): Promise<{ readonly response: string; readonly socket: net.Socket }> => {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on("error", () => undefined).write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
  const response = await new Promise<string>((resolve) => {
    socket.once("data", (chunk) => resolve(String(chunk).slice(0, 12)))
    socket.once("close", () => resolve(""))
  })
  return { response, socket }
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "serve with all observation flags", () => {
    it("logs, serves metrics, exports spans, drains and limits connections", async () => {
      const receiver = await Receiver.start()
      const system = kind.name.toLowerCase()
      const { address } = await Databases.createForTest(kind)
      const server = await serveJson([
        ...["--database", address],
        ...["--log-format", "json", "--log-level", "debug", "--access-log"],
        ...["--admin-port", "0", "--admin-host", adminHost],
        ...["--otlp", receiver.url, "--trace-sample", "1"],
        ...["--drain", "1h", "--max-connections-per-address", "2"]
      ])
      const admin = await adminUrl(server)
      expect(new URL(admin).hostname).toBe(adminHost)

      const response = await server.get("/pets")
      const requestId = response.headers.get("X-Request-Id")
      expect([response.status, await response.text()]).toEqual([200, "[]"])
      const metrics = await (await fetch(`${admin}/metrics`)).text()
      expect(metrics).toMatch(
        /^http_server_request_duration_seconds_count\{.*http_route="\/v1\/pets".*\} 1$/m
      )
      expect(metrics).toMatch(
        new RegExp(
          `^db_client_operation_duration_seconds_count\\{db_system_name="${system}",db_operation_name="page_pets"\\} 1$`,
          "m"
        )
      )

      // `fetch` may keep a connection, so that the second probe may be one too many.
      const probes = [await probe(server.url), await probe(server.url), await probe(server.url)]
      expect([probes[0]?.response, probes[2]?.response]).toEqual(["HTTP/1.1 200", ""])
      for (const { socket } of probes) socket.destroy()

      server.interrupt()
      await server.waitForLog(/stopping/)
      await expect.poll(async () => (await fetch(`${admin}/readyz`)).status, POLL_OPTIONS).toBe(503)
      // Rejected until the server has noticed that the probes have closed their connections.
      const duringDrain = () =>
        server.get("/pets").then(({ headers, status }) => [status, headers.get("Connection")], String)
      await expect.poll(duringDrain, POLL_OPTIONS).toEqual([200, "close"])
      const { code, stderr } = await server.stop()
      expect(code).toBe(0)

      const lines = stderr
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
      const [span] = receiver.spans.filter(
        (candidate) => Receiver.attributesOf(candidate)["http.response.header.x-request-id"] === requestId
      )
      expect(span?.name).toBe("GET /v1/pets")
      expect(
        receiver.spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId).map(Receiver.attributesOf)
      ).toContainEqual({ "db.system.name": system, "db.operation.name": "page_pets" })
      expect(receiver.metrics().map(({ name }) => name)).toContain("db.client.operation.duration")
      expect(lines).toContainEqual(
        expect.objectContaining({
          message: "response",
          request: requestId,
          route: "/v1/pets",
          status: 200,
          trace: span?.traceId
        })
      )
    })
  })
}

describe("--otlp", () => {
  it("pushes traces and metrics, including the last ones before the server exits", async () => {
    const receiver = await Receiver.start()
    const { get, stop } = await serve("--otlp", receiver.url, "--trace-sample", "1")
    await get("/pets")
    expect((await stop()).code).toBe(0)
    expect(receiver.spans.map(({ name }) => name)).toContain("GET /v1/pets")
    expect(receiver.metrics().map(({ name }) => name)).toContain("http.server.request.duration")
  })
})
