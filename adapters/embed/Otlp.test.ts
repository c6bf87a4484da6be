/** Checks the traces and metrics that a store pushes to a collector. */
import * as Http from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type LogEvent, openAnimalStore } from "./index.ts"
import * as Receiver from "./OtlpReceiver.fixture.ts"
import { client, creation, kinds, open, titleEnd } from "./Stores.fixture.ts"

const SERVER = 2
const CLIENT = 3

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const spanId = "00f067aa0ba902b7"

describe("OTLP", () => {
  for (const kind of kinds) {
    it.skipIf(kind.missing !== undefined)(
      `exports a span for each request, with child spans for its database calls, ${titleEnd(kind)}`,
      async () => {
        const receiver = await Receiver.start()
        const store = await open({
          database: await kind.address(),
          keyCacheMs: 0,
          otlp: { url: `${receiver.url}/`, intervalMs: 100, traceSample: 1, headers: { "X-Team": "animals" } }
        })
        const { key } = await store.keys.issue({ plan: "Free" })
        const send = await client(store)
        const { response } = await send("/v1/pets", key, creation)
        await send("/v1/pets/99", key)
        await receiver.waitUntil(() => receiver.spans.filter(({ kind }) => kind === SERVER).length === 2)
        const [created, missing] = receiver.spans.filter(({ kind }) => kind === SERVER)
        expect(created?.name).toBe("POST /v1/pets")
        expect(created?.parentSpanId).toBeUndefined()
        expect(Receiver.attributesOf(created ?? { attributes: [] })).toEqual({
          "http.request.method": "POST",
          "url.scheme": "http",
          "http.route": "/v1/pets",
          "http.response.status_code": 201,
          "http.response.header.x-request-id": response.headers.get("X-Request-Id"),
          "animal_store.outcome": "admitted"
        })
        // A 404 is an error of the client, so the status of the span stays unset.
        expect([missing?.name, missing?.status.code]).toEqual(["GET /v1/pets/{petId}", 0])
        const children = receiver.spans.filter(({ parentSpanId }) => parentSpanId === created?.spanId)
        // A store in memory makes no calls to a database.
        expect(children.map(({ name }) => name)).toEqual(
          kind.system === "memory" ? [] : ["find_api_key", "count_request", "insert_pet"]
        )
        for (const child of children) {
          expect([child.kind, child.traceId]).toEqual([CLIENT, created?.traceId])
          expect(Receiver.attributesOf(child)).toEqual({
            "db.system.name": kind.system,
            "db.operation.name": child.name
          })
          expect(BigInt(child.startTimeUnixNano)).toBeGreaterThanOrEqual(
            BigInt(created?.startTimeUnixNano ?? 0)
          )
          expect(BigInt(child.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(created?.endTimeUnixNano ?? 0))
        }
        expect(receiver.resource()).toMatchObject({ "service.name": "animal-store" })
        expect(receiver.headers[0]).toMatchObject({ "x-team": "animals" })
        expect(JSON.stringify([receiver.spans, receiver.metrics()])).not.toContain(key)
      }
    )
  }

  it("exports metrics with the names and units of the OpenTelemetry conventions", async () => {
    const receiver = await Receiver.start()
    const store = await open({
      database: (await kinds[1]?.address()) ?? "",
      otlp: { url: receiver.url, intervalMs: 100 }
    })
    await store.fetch(new Request("http://store.test/v1/pets"))
    const find = (name: string) => receiver.metrics().find((metric) => metric.name === name)
    await receiver.waitUntil(() => find("http.server.request.duration") !== undefined)
    const requests = find("http.server.request.duration")
    expect(requests?.unit).toBe("s")
    const [point] = requests?.histogram?.dataPoints ?? []
    expect(Receiver.attributesOf(point ?? { attributes: [] })).toEqual({
      "http.request.method": "GET",
      "http.route": "/v1/pets",
      "http.response.status_code": 401,
      "url.scheme": "http"
    })
    expect(point?.count).toBe(1)
    expect(point?.explicitBounds).toEqual([
      0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
    ])
    expect(point?.bucketCounts?.reduce((sum, count) => sum + count)).toBe(1)
    expect(find("db.client.operation.duration")?.unit).toBe("s")
    expect(find("process.memory.usage")?.unit).toBe("By")
    expect(find("nodejs.eventloop.delay.p99")?.unit).toBe("s")
    expect(find("animal_store.admissions")?.sum?.dataPoints.map(Receiver.attributesOf)).toContainEqual({
      outcome: "admitted",
      plan: "anonymous"
    })
  })

  it("traces a request with a traceparent header only if its sampled flag is set, and continues that trace", async () => {
    const receiver = await Receiver.start()
    const events: Array<LogEvent> = []
    const store = await open({
      otlp: { url: receiver.url, intervalMs: 100, traceSample: 0 },
      accessLog: true,
      log: (_, event) => events.push(event)
    })
    const send = async (traceparent?: string) =>
      store.fetch(
        new Request("http://store.test/v1/pets", {
          headers: traceparent === undefined ? {} : { traceparent }
        })
      )
    await send()
    await send(`00-${traceId}-${spanId}-00`)
    await send(`00-${traceId}-${spanId}-xx`)
    await send("nonsense")
    await send(`00-${traceId}-${spanId}-01`)
    await receiver.waitUntil(() => receiver.spans.some(({ kind }) => kind === SERVER))
    const spans = receiver.spans.filter(({ kind }) => kind === SERVER)
    expect(spans.map((span) => [span.traceId, span.parentSpanId])).toEqual([[traceId, spanId]])
    expect(events.map(({ fields }) => fields.trace)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      traceId
    ])
  })

  it("traces about the configured fraction of requests", async () => {
    const receiver = await Receiver.start()
    const store = await openAnimalStore({
      otlp: { url: receiver.url, traceSample: 0.3 },
      log: () => undefined,
      anonymousPlan: { perMinute: 10_000, perDay: 10_000 }
    })
    for (let count = 0; count < 1_000; count++) await store.fetch(new Request("http://store.test/v1/pets"))
    await store.close()
    const roots = receiver.spans.filter(({ kind }) => kind === SERVER)
    // Six standard deviations on either side.
    expect(Math.abs(roots.length - 300)).toBeLessThan(90)
  })

  it("marks the spans of failed requests and failed database calls as errors", async () => {
    const receiver = await Receiver.start()
    const { DatabaseSync } = await import("node:sqlite")
    const address = (await kinds[1]?.address()) ?? ""
    const store = await open({
      database: address,
      otlp: { url: receiver.url, intervalMs: 100, traceSample: 1 }
    })
    const { key } = await store.keys.issue({ plan: "Free" })
    const database = new DatabaseSync(address.slice("sqlite:".length))
    database.exec("ALTER TABLE pets RENAME TO gone")
    database.close()
    const send = await client(store)
    expect((await send("/v1/pets", key)).response.status).toBe(503)
    await receiver.waitUntil(() => receiver.spans.some(({ kind }) => kind === SERVER))
    const failed = receiver.spans.filter(({ status }) => status.code === 2)
    expect(failed.map((span) => [span.name, Receiver.attributesOf(span)["error.type"]])).toEqual([
      ["page_pets", "store_unavailable"],
      ["GET /v1/pets", "service_unavailable"]
    ])
    const failedPoints = (name: string) =>
      (receiver.metrics().find((metric) => metric.name === name)?.histogram?.dataPoints ?? [])
        .map(Receiver.attributesOf)
        .filter((attributes) => attributes["error.type"] !== undefined)
    await receiver.waitUntil(() => failedPoints("http.server.request.duration").length > 0)
    expect(failedPoints("http.server.request.duration")).toEqual([
      {
        "http.request.method": "GET",
        "url.scheme": "http",
        "http.route": "/v1/pets",
        "http.response.status_code": 503,
        "error.type": "service_unavailable"
      }
    ])
    expect(failedPoints("db.client.operation.duration")).toEqual([
      { "db.system.name": "sqlite", "db.operation.name": "page_pets", "error.type": "store_unavailable" }
    ])
  })
})

describe("the URL of the collector", () => {
  it.each(["", "/", "/v1/traces", "/v1/metrics/"])("may end in %j", async (end) => {
    const receiver = await Receiver.start()
    const store = await openAnimalStore({
      otlp: { url: `${receiver.url}/otlp${end}`, traceSample: 1, serviceName: "zoo" },
      log: () => undefined
    })
    await store.fetch(new Request("http://store.test/v1/pets"))
    await store.close()
    expect(receiver.paths.toSorted()).toEqual(["/otlp/v1/metrics", "/otlp/v1/traces"])
    expect(receiver.resource()).toMatchObject({ "service.name": "zoo" })
  })
})

describe("a collector that fails", () => {
  it("is disconnected after a few kilobytes of an endless response", async () => {
    const bytesSent: Array<number> = []
    const part = Buffer.alloc(65_536, " ")
    const server = Http.createServer((request, response) => {
      const { socket } = request
      const send = (): void => {
        let hasRoom = true
        while (hasRoom && !response.destroyed) hasRoom = response.write(part)
      }
      response.on("drain", send).once("close", () => bytesSent.push(socket.bytesWritten))
      request.resume().once("end", send)
    })
    const port = await Receiver.listen(server)
    const lines: Array<string> = []
    const store = await openAnimalStore({
      log: (line) => lines.push(line),
      otlp: { url: `http://127.0.0.1:${port}`, intervalMs: 100, traceSample: 0 }
    })
    await expect.poll(() => bytesSent.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(3)
    await store.close()
    // The buffers of the sockets and of the client hold a few megabytes; without a bound, hundreds arrive in a second.
    expect(Math.max(...bytesSent)).toBeLessThan(20_000_000)
    expect(lines).toEqual([])
  })

  it("cannot redirect an export, whose headers contain secrets, to another server", async () => {
    const other = await Receiver.start()
    const server = Http.createServer((_, response) => response.writeHead(308, { Location: other.url }).end())
    const lines: Array<string> = []
    const store = await openAnimalStore({
      log: (line) => lines.push(line),
      otlp: {
        url: `http://127.0.0.1:${await Receiver.listen(server)}`,
        headers: { "api-key": "secret" },
        intervalMs: 100,
        traceSample: 0
      }
    })
    await expect.poll(() => lines.join(""), { timeout: 60_000 }).toContain("the collector responded with 308")
    await store.close()
    expect(other.headers).toEqual([])
  })

  it.each(["refuses connections", "never responds", "responds with errors"])(
    "prevents neither requests nor closing, and adds no secret to the log, when it %s",
    async (fault) => {
      const server = Http.createServer((_, response) => {
        if (fault === "responds with errors") response.writeHead(500).end()
      })
      const port = await Receiver.listen(server)
      if (fault === "refuses connections") await new Promise((resolve) => server.close(resolve))
      const lines: Array<string> = []
      const store = await openAnimalStore({
        anonymousPlan: { perMinute: 100_000, perDay: 100_000 },
        log: (line) => lines.push(line),
        otlp: {
          url: `http://127.0.0.1:${port}`,
          headers: { Authorization: "Bearer collector-secret" },
          intervalMs: 100,
          traceSample: 1
        }
      })
      for (let count = 0; count < 100; count++) {
        expect((await store.fetch(new Request("http://store.test/v1/pets"))).status).toBe(401)
        await sleep(3)
      }
      await store.close()
      // An export that gets no response fails after five seconds.
      if (fault !== "never responds") expect(lines.join()).toContain("telemetry was not exported")
      expect(lines.join()).not.toContain("collector-secret")
    }
  )
})
