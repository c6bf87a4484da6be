/** Checks the log, the access log and `onResponse` of an embedded store, over sockets and `fetch`. */
import { once } from "node:events"
import * as net from "node:net"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type Exchange, InvalidOption, type LogEvent, openAnimalStore } from "./index.ts"
import { client, creation, kinds, open, titleEnd } from "./Stores.fixture.ts"

const responsesOf = (events: ReadonlyArray<LogEvent>) =>
  events.filter(({ message }) => message === "response")

describe("the access log", () => {
  for (const kind of kinds) {
    it.skipIf(kind.missing !== undefined)(
      `has one line with status and request id for each response, except for probes, ${titleEnd(kind)}`,
      async () => {
        const events: Array<LogEvent> = []
        const store = await open({
          database: await kind.address(),
          accessLog: true,
          log: (_, event) => events.push(event)
        })
        const { id, key } = await store.keys.issue({ plan: "Pro" })
        const send = await client(store)
        const sent = [
          await send("/v1/pets", key, creation),
          await send("/v1/pets?status=sold", key),
          await send("/v1/pets/1", key),
          await send("/v1/pets/99", key),
          await send("/v1/pets?limit=x", key),
          await send("/v1/pets"),
          await send("/nothing/here"),
          await send("/v1/pets", key, { method: "DELETE" }),
          await send("/livez"),
          await send("/readyz")
        ]
        const lines = responsesOf(events)
        expect(lines.map(({ fields }) => [fields.request, fields.status, fields.bytes])).toEqual(
          sent
            .slice(0, -2)
            .map(({ body, response }) => [
              response.headers.get("X-Request-Id"),
              response.status,
              Buffer.byteLength(body)
            ])
        )
        expect(
          lines.map(({ fields: { code, key: keyId, method, plan, route } }) => [
            method,
            route,
            code,
            keyId,
            plan
          ])
        ).toEqual([
          ["POST", "/v1/pets", undefined, id, "Pro"],
          ["GET", "/v1/pets", undefined, id, "Pro"],
          ["GET", "/v1/pets/{petId}", undefined, id, "Pro"],
          ["GET", "/v1/pets/{petId}", "not_found", id, "Pro"],
          ["GET", "/v1/pets", "invalid_parameter", id, "Pro"],
          ["GET", "/v1/pets", "missing_api_key", undefined, undefined],
          ["GET", undefined, "missing_api_key", undefined, undefined],
          ["DELETE", "/v1/pets", "method_not_allowed", id, "Pro"]
        ])
        for (const { fields, level } of lines) {
          expect(level).toBe("info")
          expect(fields.ms).toBeGreaterThan(0)
        }
      }
    )
  }

  it("has a line for the 400 response to a malformed request", async () => {
    const events: Array<LogEvent> = []
    const store = await open({ accessLog: true, log: (_, event) => events.push(event) })
    const { port } = await store.listen({ port: 0 })
    const socket = net.connect(port, "127.0.0.1", () => socket.write("nonsense\r\n\r\n"))
    const [response]: Array<Buffer> = await once(socket, "data")
    socket.destroy()
    const id = /X-Request-Id: (\S+)/.exec(String(response))?.[1]
    expect(responsesOf(events).map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ request: id, method: "_OTHER", status: 400, code: "malformed_request" })
    ])
  })

  it("has a line for a client that disconnects before the response", async () => {
    const events: Array<LogEvent> = []
    const store = await open({ accessLog: true, log: (_, event) => events.push(event) })
    const { key } = await store.keys.issue({ plan: "Free" })
    const { port } = await store.listen({ port: 0 })
    const socket = net.connect(port, "127.0.0.1", () =>
      socket.write(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
          "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
      )
    )
    // The server sends "100 Continue" when it begins to read the body.
    await once(socket, "data")
    socket.destroy()
    await expect
      .poll(() => events.some(({ message }) => message === "client disconnected"), { timeout: 60_000 })
      .toBe(true)
    expect(
      events.filter(({ message }) => message === "client disconnected").map(({ fields }) => fields)
    ).toEqual([expect.objectContaining({ method: "POST", route: "/v1/pets" })])
  })

  it("is off by default, and has one line per request even for 100 equal requests", async () => {
    const lines: Array<string> = []
    const quiet = await open({ log: (line) => lines.push(line) })
    await quiet.fetch(new Request("http://store.test/v1/pets"))
    expect(lines).toEqual([])
    const noisy = await open({ log: (line) => lines.push(line), accessLog: true })
    for (let count = 0; count < 100; count++) await noisy.fetch(new Request("http://store.test/v1/pets"))
    expect(lines.filter((line) => line.includes("message=response"))).toHaveLength(100)
  })
})

describe("the log", () => {
  it.each(["text", "json"] as const)(
    "contains neither a key nor any text that a client sent, except unknown paths, in the format %s",
    async (logFormat) => {
      const lines: Array<string> = []
      const exchanges: Array<Exchange> = []
      const store = await open({
        logFormat,
        logLevel: "trace",
        accessLog: true,
        log: (line) => lines.push(line),
        onResponse: (exchange) => exchanges.push(exchange)
      })
      const { key } = await store.keys.issue({
        plan: "Enterprise",
        limits: { perMinute: 10_000, perDay: 10_000 }
      })
      const secret = fc.stringMatching(/^[A-Za-z0-9_]{24}$/)
      await fc.assert(
        fc.asyncProperty(
          secret,
          fc.constantFrom("query", "name", "path", "credential", "body", "header", "pet"),
          fc.boolean(),
          async (text, place, hasKey) => {
            const target = {
              query: `/v1/pets?status=${text}`,
              name: `/v1/pets?${text}=1`,
              path: `/v1/ast_${text}`,
              pet: `/v1/pets/${text}`
            }
            const path = place in target ? target[place as keyof typeof target] : "/v1/pets" // checked by `in`
            const headers = new Headers({ "Content-Type": "application/json" })
            if (hasKey) headers.set("Authorization", `Bearer ${key}`)
            if (place === "credential") headers.set("Authorization", `Bearer ast_${text}`)
            if (place === "header") headers.set("X-Request-Id", text)
            await store.fetch(
              new Request(`http://store.test${path}`, {
                headers,
                ...(place === "body" ? { method: "POST", body: `{"name":"${text}","categoryId":"x"}` } : {})
              })
            )
            expect(`${lines.join("\n")}${JSON.stringify(exchanges)}`).not.toContain(text)
          }
        ),
        { numRuns: 60 }
      )
      expect(lines.join("\n")).not.toContain(key)
      expect(exchanges.length).toBeGreaterThanOrEqual(60)
    }
  )

  it("is passed to the log function line by line, each with its structured event", async () => {
    const calls: Array<readonly [string, LogEvent]> = []
    const store = await open({
      logFormat: "json",
      log: (line, event) => calls.push([line, event])
    })
    const { id } = await store.keys.issue({ plan: "Free" })
    await store.keys.rotate(id, { overlapMs: 0 })
    await store.keys.revoke(id)
    expect(calls.map(([, { fields, level, message }]) => [level, message, fields])).toEqual(
      ["key issued", "key rotated", "key revoked"].map((message) => [
        "info",
        message,
        { key: id, plan: "Free" }
      ])
    )
    for (const [line, { time }] of calls) {
      expect(JSON.parse(line)).toMatchObject({ level: "info", key: id, time: new Date(time).toISOString() })
    }
  })

  it("has a line for each changed and each unbanned key", async () => {
    const events: Array<LogEvent> = []
    const store = await open({
      log: (_, event) => events.push(event),
      ban: { strikes: 1, strikeIntervalMs: 0 }
    })
    const { id, key } = await store.keys.issue({ plan: "Free" })
    const list = () =>
      store.fetch(new Request("http://store.test/v1/pets", { headers: { Authorization: `Bearer ${key}` } }))
    await store.keys.set(id, { plan: "Enterprise", limits: { perMinute: 1, perDay: 100 } })
    for (let count = 0; count < 4; count++) await list()
    expect((await store.keys.show(id)).usage.bannedUntil).toBeGreaterThan(Date.now())
    await store.keys.unban(id)
    expect(
      events
        .filter(({ message }) => message === "key changed" || message === "key unbanned")
        .map(({ fields, level, message }) => [level, message, fields])
    ).toEqual([
      ["info", "key changed", { key: id, plan: "Enterprise" }],
      ["info", "key unbanned", { key: id, plan: "Enterprise" }]
    ])
  })

  it("is empty at level 'none', and has one line, for the failure, at level 'warn'", async () => {
    for (const logLevel of ["none", "warn"] as const) {
      const lines: Array<string> = []
      const store = await open({ logLevel, log: (line) => lines.push(line), accessLog: logLevel === "none" })
      await store.keys.issue({ plan: "Free" })
      const request = new Request("http://store.test/v1/pets", { method: "POST" })
      Object.defineProperty(request.headers, "get", {
        value: () => {
          throw new Error("the host is broken")
        }
      })
      expect((await store.fetch(request)).status).toBe(500)
      expect(lines).toHaveLength(logLevel === "none" ? 0 : 1)
    }
  })
})

describe("openAnimalStore", () => {
  it.each([
    [{ logFormat: "xml" }, /^logFormat: must be one of text, json, columns$/],
    [{ logLevel: "loud" }, /^logLevel: must be one of trace, /],
    [{ otlp: { url: "127.0.0.1:4318" } }, /^otlp: url must be an http/],
    [{ otlp: { url: "http://user:secret@host" } }, /^otlp: url must be an http\(s\) URL without credentials/],
    [{ otlp: { url: "http://host", traceSample: 2 } }, /^otlp: traceSample must be a number from 0 to 1$/],
    [{ otlp: { url: "http://host", intervalMs: 1 } }, /^otlp: intervalMs must be/],
    [
      { otlp: { url: "http://host", headers: new Map([["A", "secret\n"]]) } },
      /^otlp: headers must be an object/
    ],
    [{ otlp: { url: "http://host", headers: new Headers({ A: "b" }) } }, /^otlp: headers must be an object/]
  ])("rejects the options %j and states why", async (options, message) => {
    const reason = await openAnimalStore(options as object).catch((error: unknown) => error) // wrong on purpose
    expect(reason).toBeInstanceOf(InvalidOption)
    expect(reason).toMatchObject({ message: expect.stringMatching(message) })
    expect(String(reason)).not.toContain("user:secret")
  })
})

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a database outage", () => {
    it("is logged at its start with the first failed request, and at its end with the first successful request and the duration", async () => {
      const events: Array<LogEvent> = []
      const database = await Databases.createForTest(kind)
      const execute = (statement: string) =>
        Effect.runPromise(
          Effect.provide(
            SqlClient.SqlClient.use((sql) => sql.unsafe(statement)),
            database.client
          )
        )
      const store = await open({ database: database.address, log: (_, event) => events.push(event) })
      const { key } = await store.keys.issue({ plan: "Free" })
      const send = await client(store)
      const statuses: Array<number> = []
      const ids: Array<string | null> = []
      const list = async (): Promise<void> => {
        const { response } = await send("/v1/pets", key)
        statuses.push(response.status)
        ids.push(response.headers.get("X-Request-Id"))
      }
      await list()
      await execute("ALTER TABLE pets RENAME TO gone")
      await list()
      await list()
      await execute("ALTER TABLE gone RENAME TO pets")
      await list()
      await list()
      expect(statuses).toEqual([200, 503, 503, 200, 200])
      expect(
        events
          .filter(({ message }) => message.startsWith("database"))
          .map(({ fields, level, message }) => [level, message, fields])
      ).toEqual([
        ["error", "database unavailable", { request: ids[1] }],
        ["info", "database available again", { request: ids[3], afterMs: expect.any(Number) }]
      ])
      expect(events.find(({ message }) => message === "503 service_unavailable")?.fields.request).toBe(ids[1])
    })
  })
}

describe("onResponse", () => {
  it("receives each exchange, and can throw or reject without affecting responses", async () => {
    const unhandled: Array<unknown> = []
    const collect = (reason: unknown): void => void unhandled.push(reason)
    process.on("unhandledRejection", collect)
    const exchanges: Array<Exchange> = []
    const observers: ReadonlyArray<(exchange: Exchange) => unknown> = [
      (exchange) => exchanges.push(exchange),
      () => {
        throw new Error("broken")
      },
      async () => {
        throw new Error("broken")
      }
    ]
    for (const onResponse of observers) {
      const store = await open({ onResponse })
      expect((await store.fetch(new Request("http://store.test/v1/pets"))).status).toBe(401)
    }
    await new Promise(setImmediate)
    process.off("unhandledRejection", collect)
    expect(unhandled).toEqual([])
    expect(exchanges).toEqual([
      expect.objectContaining({ method: "GET", route: "/v1/pets", status: 401, outcome: "admitted" })
    ])
  })
})
