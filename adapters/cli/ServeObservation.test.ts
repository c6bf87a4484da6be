/** Tests the logging, metrics and tracing flags with servers in separate processes. */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Schema from "effect/Schema"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Receiver from "../embed/OtlpReceiver.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import { run, type ServerProcess, start, stop } from "./Serve.fixture.ts"

/** Decodes the response of Prometheus to a query. */
const decodeQuery = Schema.decodeUnknownSync(
  Schema.Struct({
    data: Schema.Struct({
      result: Schema.Array(Schema.Struct({ value: Schema.Tuple([Schema.Number, Schema.String]) }))
    })
  })
)

const memory = ["--port", "0", "--database", "memory:", "--json"]

const serve = (...args: ReadonlyArray<string>) => serveOn("memory:", args)

const serveOn = async (database: string, args: ReadonlyArray<string>) => {
  const server = await start(["--port", "0", "--database", database, "--json", ...args])
  onTestFinished(() => void server.process.kill("SIGKILL"))
  const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(server.greeting)
  const send = (target: string): Promise<Response> =>
    fetch(`${url}${target}`, { headers: { Authorization: `Bearer ${keys[0]?.key}` } })
  return { server, url, send, key: keys[0]?.key ?? "" }
}

const adminUrl = async (server: ServerProcess): Promise<string> =>
  (await server.waitForLog(/metrics on (http:\S+)\/metrics/))[1] ?? ""

describe("the access log of serve", () => {
  it("is off if standard error is not a terminal, and on with --access-log", async () => {
    const quiet = await serve()
    await quiet.send("/pets")
    expect((await stop(quiet.server)).stderr).not.toContain("message=response")
    const noisy = await serve("--access-log")
    const response = await noisy.send("/pets")
    const { stderr } = await stop(noisy.server)
    expect(stderr).toMatch(/^timestamp=\S+ level=INFO message="key issued" key=key_\w+ plan=Free$/m)
    expect(stderr).toMatch(
      new RegExp(
        `^timestamp=\\S+ level=INFO message=response request=${response.headers.get("X-Request-Id")} method=GET ` +
          "route=/v1/pets status=200 key=key_\\w+ plan=Free ms=[0-9.]+ bytes=2$",
        "m"
      )
    )
    expect(stderr).not.toContain(noisy.key)
  })

  const hasScript = spawnSync("script", ["--version"]).error === undefined

  it.skipIf(!hasScript)(
    `is on if standard error is a terminal, and off with --no-access-log or --log-level=warn${hasScript ? "" : " (skipped: script is not installed)"}`,
    async () => {
      for (const [flag, count] of [
        ["", 1],
        ["--no-access-log", 0],
        ["--log-level=warn", 0]
      ] as const) {
        const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
        onTestFinished(() => fs.rmSync(directory, { recursive: true }))
        const main = path.join(import.meta.dirname, "main.ts")
        const command = `${process.execPath} ${main} serve ${memory.join(" ")} --drain 0 ${flag}`
        const child = spawn("script", ["-qec", command, path.join(directory, "typescript")], {
          stdio: ["ignore", "pipe", "ignore"]
        })
        onTestFinished(() => void child.kill("SIGKILL"))
        let output = ""
        child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk))
        const waitForOutput = async (pattern: RegExp): Promise<string> => {
          for (let wait = 0; wait < 500; wait++) {
            const match = pattern.exec(output)
            if (match !== null) return match[1] ?? ""
            await sleep(20)
          }
          throw new Error(`no match for ${pattern}: ${output}`)
        }
        const url = await waitForOutput(/"url":"([^"]+)"/)
        await fetch(`${url}/pets`)
        await sleep(200)
        child.kill("SIGTERM")
        expect(output.match(/message=response/g)?.length ?? 0).toBe(count)
      }
    }
  )
})

describe("the log of serve", () => {
  it("has only lines of JSON with --log-format json", async () => {
    const { send, server } = await serve("--log-format", "json", "--access-log")
    const response = await send("/pets")
    const { stderr } = await stop(server)
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

  it("is empty with --log-level none, even when the server stops", async () => {
    const { send, server } = await serve("--log-level", "none", "--access-log", "--admin-port", "0")
    await send("/pets")
    expect((await stop(server)).stderr).toBe("")
  })
})

describe("serve with invalid observation flags", () => {
  it.each([
    [["--log-format", "xml"], "--log-format: must be one of text, json"],
    [["--log-level", "loud"], "--log-level: must be one of trace, debug, info, warn, error, none"],
    [["--otlp", "localhost:4318"], "--otlp: must be an http(s) URL without credentials"],
    [["--trace-sample", "2"], "--trace-sample: must be a number from 0 to 1"]
  ])("rejects %j and states why", async (args, message) => {
    const { code, stderr } = await run(["serve", ...memory, ...args])
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })
})

describe("the admin port", () => {
  it("serves /metrics, /livez and /readyz without a key, and does not count these requests", async () => {
    const { send, server } = await serve("--admin-port", "0")
    const admin = await adminUrl(server)
    await send("/pets")
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
    expect((await stop(server)).code).toBe(0)
  })

  it("returns 503 on /readyz during the drain, and does not prevent the server from exiting", async () => {
    const { send, server } = await serve("--admin-port", "0", "--drain", "2s")
    const admin = await adminUrl(server)
    await send("/pets")
    server.process.kill("SIGTERM")
    await server.waitForLog(/stopping/)
    let status = 200
    for (let wait = 0; wait < 50 && status === 200; wait++) {
      status = (await fetch(`${admin}/readyz`)).status
      await sleep(20)
    }
    expect(status).toBe(503)
    expect((await server.ended).code).toBe(0)
  })

  it("makes startup fail with one line if its port is taken", async () => {
    const otherServer = net.createServer()
    await new Promise<void>((resolve) => otherServer.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void otherServer.close())
    const address = otherServer.address()
    const port = typeof address === "object" ? address?.port : undefined
    const { code, stderr } = await run(["serve", ...memory, "--admin-port", String(port)])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^animal-store: --admin-port \(ANIMAL_STORE_ADMIN_PORT\): cannot listen on 127\.0\.0\.1:\d+:.*\n$/
    )
  })

  const hasPrometheus = spawnSync("prometheus", ["--version"]).error === undefined

  it.skipIf(!hasPrometheus)(
    `serves metrics that Prometheus can scrape${hasPrometheus ? "" : " (skipped: prometheus is not installed)"}`,
    async () => {
      const { send, server } = await serve("--admin-port", "0")
      const admin = await adminUrl(server)
      await send("/pets")
      const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
      onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
      const config = path.join(directory, "prometheus.yml")
      const target = new URL(admin).host
      fs.writeFileSync(
        config,
        `scrape_configs:\n- job_name: animals\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  static_configs:\n  - targets: ["${target}"]\n`
      )
      const port = await new Promise<number>((resolve) => {
        const probe = net.createServer().listen(0, "127.0.0.1", () => {
          const address = probe.address()
          probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
        })
      })
      const child = spawn(
        "prometheus",
        [
          `--config.file=${config}`,
          `--storage.tsdb.path=${directory}/data`,
          `--web.listen-address=127.0.0.1:${port}`
        ],
        { stdio: "ignore" }
      )
      onTestFinished(() => void child.kill("SIGKILL"))
      const query = async (expression: string): Promise<unknown> => {
        const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`
        const found = await fetch(url)
          .then(async (response) => decodeQuery(await response.json()))
          .catch(() => undefined)
        return found?.data.result[0]?.value[1]
      }
      let count: unknown
      for (let wait = 0; wait < 200 && count === undefined; wait++) {
        count = await query('sum(http_server_request_duration_seconds_count{http_route="/v1/pets"})')
        await sleep(50)
      }
      expect(count).toBe("1")
      expect(await query('up{job="animals"}')).toBe("1")
    }
  )
})

/** An address of this machine other than the default of `--admin-host`, where the platform has one. */
const adminHost = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1"

/** Opens a connection, and returns whether the server closes it within half a second. */
const isRejected = async (port: number): Promise<boolean> => {
  const socket = net.connect(port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  const closed = new Promise<true>((resolve) => {
    socket.on("error", () => undefined).once("close", () => resolve(true))
    socket.resume()
  })
  await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))
  return Promise.race([closed, sleep(500, false)])
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "serve with all observation flags", () => {
    it("logs, serves metrics, exports spans, drains and limits connections", async () => {
      const receiver = await Receiver.start()
      const system = kind.name.toLowerCase()
      const { address } = await Databases.createForTest(kind)
      const { send, server, url } = await serveOn(address, [
        ...["--log-format", "json", "--log-level", "debug", "--access-log"],
        ...["--admin-port", "0", "--admin-host", adminHost],
        ...["--otlp", receiver.url, "--trace-sample", "1"],
        ...["--drain", "1s", "--max-connections-per-address", "2"]
      ])
      const admin = await adminUrl(server)
      expect(new URL(admin).hostname).toBe(adminHost)

      const response = await send("/pets")
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

      // `fetch` keeps its connection, so one more is accepted, and a third one is not.
      const { port } = new URL(url)
      expect([await isRejected(Number(port)), await isRejected(Number(port))]).toEqual([false, true])

      server.process.kill("SIGTERM")
      await server.waitForLog(/stopping/)
      await expect.poll(async () => (await fetch(`${admin}/readyz`)).status).toBe(503)
      const duringDrain = await send("/pets")
      expect([duringDrain.status, duringDrain.headers.get("Connection")]).toEqual([200, "close"])
      const { code, stderr } = await server.ended
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
    const { send, server } = await serve("--otlp", receiver.url, "--trace-sample", "1")
    await send("/pets")
    expect((await stop(server)).code).toBe(0)
    expect(receiver.spans.map(({ name }) => name)).toContain("GET /v1/pets")
    expect(receiver.metrics().map(({ name }) => name)).toContain("http.server.request.duration")
  })
})
