/** Tests that the processes of `serve --workers` behave like one server. */
import { once } from "node:events"
import * as fs from "node:fs"
import * as net from "node:net"
import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../../sql/Databases.fixture.ts"
import { json, run } from "../CommandLine.fixture.ts"
import * as Load from "../Load.fixture.ts"
import * as Ports from "../Ports.fixture.ts"
import * as WorkerCount from "./WorkerCount.ts"
import * as Workers from "./Workers.fixture.ts"

const TIMEOUT_MS = 180_000

describe("serve --workers", () => {
  it.each([
    [["--workers", "2", "--database", "memory:"], "--database memory: requires a single process"],
    [["--workers", "auto", "--database", "memory:"], "--database memory: requires a single process"],
    [
      ["--workers", "2", "--database", "sqlite:a.db", "--limits", "memory:"],
      "--limits memory: requires a single process"
    ],
    [
      ["--workers", "2", "--database", "sqlite:a.db", "--test-clock-port", "0"],
      "--test-clock-port requires a single process"
    ],
    [["--workers", "0"], "--workers: must be a whole number from 1 to 512, or auto"],
    [["--workers", "all"], "--workers: must be a whole number from 1 to 512, or auto"]
  ])("rejects %j with one sentence", async (args, message) => {
    const { code, stderr, stdout } = await run(["serve", ...args])
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr.split("\n")).toHaveLength(2)
    expect(stderr).toContain(message)
  })

  it("reports a taken port and an unusable database like a single process", async () => {
    const { address } = await Databases.createForTest(Databases.sqlite)
    const failures = [
      [["--database", address, "--port", String(await Ports.occupy())], "EADDRINUSE"],
      [["--port", "0", "--database", "postgres://x:secret@127.0.0.1:1/none"], "ECONNREFUSED"]
    ] as const
    for (const [args, reason] of failures) {
      const single = await run(["serve", ...args])
      expect(single).toEqual({ code: 1, stdout: "", stderr: expect.stringContaining(reason) })
      expect(await run(["serve", "--workers", "2", ...args])).toEqual(single)
    }
  })

  it("starts one worker for each available core with auto", () => {
    const companions = { store: { database: "sqlite:a.db", limits: undefined }, testClockPort: undefined }
    expect(Effect.runSync(WorkerCount.resolve("auto", companions))).toBe(availableParallelism())
  })
})

/** Creates a database for all tests of a group. */
const createDatabase = (): string => {
  const scope = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.runSync(Scope.provide(Databases.sqlite.create, scope)).address
}

/** Starts a server for all tests of a group. */
const serveGroup = (
  database: string,
  args: ReadonlyArray<string>,
  drain: string,
  settings: Workers.Settings = {}
): { readonly server: () => Workers.Server } => {
  let server: Workers.Server | undefined
  beforeAll(async () => {
    const environment = { ANIMAL_STORE_DRAIN: drain }
    server = await Workers.launch(2, database, args, { environment, ...settings })
  }, TIMEOUT_MS)
  afterAll(() => server?.kill())
  return {
    server: () => {
      if (server === undefined) throw new Error("the server has not started")
      return server
    }
  }
}

const admitted = 'animal_store_admissions_total{outcome="admitted",plan="Enterprise"}'

Workers.describeWorkers("a server with two workers", () => {
  const args = ["--admin-port", "0", "--access-log", "--log-format", "json", "--first-key"]
  const database = createDatabase()
  const { server } = serveGroup(database, args, "1h")
  const requestIds: Array<string> = []
  /** Sends a request with the key of the server, and records its id. */
  const read = async (client: Load.Client): Promise<Load.LoadResponse> => {
    const response = await client.send({ key: server().key, path: "/pets?limit=1" })
    requestIds.push(response.header("x-request-id"))
    return response
  }

  it("has one start line and one key, even with --first-key", () => {
    expect(server().greeting.trim().split("\n")).toHaveLength(1)
    expect(server().keys).toEqual([expect.objectContaining({ plan: "Enterprise" })])
    expect(server().workers()).toHaveLength(2)
  })

  it("handles all requests of a connection in the same worker, and counts them in one sum", async () => {
    const admin = await server().admin()
    const scrape = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text()
    const clients = await Workers.connectToEach(server(), 2)
    const before = Workers.valueOf(await scrape(), admitted)
    for (const [worker, client] of clients) {
      for (let sent = 0; sent < 5; sent++) {
        const response = await read(client)
        expect([response.status, Workers.workerOf(response)]).toEqual([200, worker])
      }
    }
    const text = await scrape()
    expect(Workers.valueOf(text, admitted)).toBe(before + 10)
    expect(text.match(/^process_cpu_seconds_total\{worker="[12]"\} /gm)).toHaveLength(2)
    expect(Workers.valueOf(text, "animal_store_workers")).toBe(2)

    const [hung = 0] = server().workers()
    process.kill(hung, "SIGSTOP")
    onTestFinished(() => void process.kill(hung, "SIGCONT"))
    expect(Workers.valueOf(await scrape(), admitted)).toBe(before + 10)
    expect((await fetch(`${admin}/livez`)).status).toBe(200)
    expect((await fetch(`${admin}/readyz`)).status).toBe(200)
  })

  it("shows a row for each worker in the console, whose sum is that of /metrics", async () => {
    const admin = await server().admin()
    const { key } = await json<{ key: string }>(["admin", "token", "--database", database])
    const history = await fetch(`${admin}/admin/v1/history`, {
      headers: { Authorization: `Bearer ${key}` }
    })
    const { total, workers } = (await history.json()) as Record<"total" | "workers", object>
    expect(workers).toMatchObject([{ worker: 1 }, { worker: 2 }])
    const text = await (await fetch(`${admin}/metrics`)).text()
    const counts = text.matchAll(
      /^http_server_request_duration_seconds_count\{.*status_code="200".*\} (\d+)$/gm
    )
    const counted = [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    expect(counted).toBeGreaterThan(10)
    expect(total).toMatchObject({ requests: { 200: counted } })
  })

  it("serves the same reference page in each worker", async () => {
    const tags = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const response = await fetch(new URL("/docs", server().url), { headers: { Connection: "close" } })
        return `${response.status} ${response.headers.get("etag")}`
      })
    )
    expect(new Set(tags).size).toBe(1)
    expect(tags[0]).toMatch(/^200 /)
  })

  it("has workers that ignore SIGINT and SIGHUP, which a terminal sends to every process", async () => {
    const pids = server().workers()
    for (const pid of pids) for (const signal of ["SIGINT", "SIGHUP"]) process.kill(pid, signal)
    for (const client of (await Workers.connectToEach(server(), 2)).values()) {
      for (let sent = 0; sent < 10; sent++) expect((await read(client)).status).toBe(200)
    }
    expect(server().workers()).toEqual(pids)
  })

  it(
    "drains until a second signal when SIGTERM reaches every process, and each worker returns 503 on /readyz",
    async () => {
      const admin = await server().admin()
      const clients = await Workers.connectToEach(server(), 2)
      const all = [...server().workers(), server().process.pid ?? 0]
      for (const pid of server().workers()) process.kill(pid, "SIGTERM")
      // Longer than the time in which a second signal counts as a duplicate.
      await sleep(1_300)
      server().process.kill("SIGTERM")
      await server().waitForLog(/stopping/)
      await Workers.waitUntil(async () => (await fetch(`${admin}/readyz`)).status === 503)
      for (let probe = 0; probe < 6; probe++) {
        expect((await fetch(new URL("/readyz", server().url))).status).toBe(503)
      }
      for (const client of clients.values()) {
        const response = await read(client)
        expect([response.status, response.header("connection")]).toEqual([200, "close"])
      }
      expect(all.filter(Workers.isAlive)).toEqual(all)
      const timer = setInterval(() => {
        for (const pid of all) if (Workers.isAlive(pid)) process.kill(pid, "SIGTERM")
      }, 50)
      onTestFinished(() => clearInterval(timer))
      expect(await server().ended).toMatchObject({ code: 0, signal: null })
      expect(all.filter(Workers.isAlive)).toEqual([])
    },
    TIMEOUT_MS
  )

  it("has logged whole lines: one for each response, and one for each event of the server", async () => {
    const { stderr } = await server().ended
    const lines = stderr
      .trim()
      .split("\n")
      .map((line): { readonly request?: string; readonly message?: string } => JSON.parse(line))
    const logged = lines.flatMap(({ request }) => request ?? [])
    expect(new Set(logged).size).toBe(logged.length)
    expect(requestIds.filter((id) => !logged.includes(id))).toEqual([])
    const messages = lines.flatMap(({ message, request }) => (request === undefined ? (message ?? []) : []))
    expect(messages.filter((message) => message === "key issued")).toHaveLength(1)
    expect(messages.filter((message) => message.startsWith("stopping"))).toHaveLength(1)
    expect(messages.filter((message) => message.includes("another one starts"))).toEqual([])
  })
})

Workers.describeWorkers("a worker that exits", () => {
  const database = createDatabase()
  const { server } = serveGroup(database, ["--admin-port", "0"], "8s")
  const metrics = async (): Promise<string> => (await fetch(`${await server().admin()}/metrics`)).text()

  it(
    "loses no connection that it had not accepted: another worker gets it",
    async () => {
      const { key, url, waitForLog, workers } = server()
      const [stuck = 0] = workers()
      process.kill(stuck, "SIGSTOP")
      onTestFinished(() => {
        if (Workers.isAlive(stuck)) process.kill(stuck, "SIGKILL")
      })
      // One of these connections is handed to the worker that does not run.
      let responded = 0
      const statuses = Promise.all(
        Array.from({ length: 4 }, async () => {
          const client = Load.connect(url)
          const { status } = await client.send({ key, path: "/pets?limit=1" })
          client.close()
          responded++
          return status
        })
      )
      await Workers.waitUntil(() => responded === 3)
      await sleep(300)
      expect(responded).toBe(3)
      process.kill(stuck, "SIGKILL")
      expect(await statuses).toEqual([200, 200, 200, 200])
      await waitForLog(new RegExp(`process ${stuck}\\) was killed by SIGKILL; another one starts in 1 s\n`))
      await waitForLog(/(?:[\s\S]*serves again\n){1}/)
    },
    TIMEOUT_MS
  )

  it(
    "breaks only its own connections when it is killed, loses no acknowledged animal, and is replaced",
    async () => {
      const { key, url, waitForLog, workers } = server()
      await Workers.connectToEach(server(), 2)
      const next = Load.makeAnimals(7)
      const acknowledged: Array<Load.WirePet> = []
      const brokenOf = new Set<string>()
      const undisturbed = new Set<string>()
      const sum = Workers.valueOf(await metrics(), admitted)
      let victim: number | undefined
      let respondedAfter = 0
      await Load.runClients([url], 12, async (client) => {
        let worker: string | undefined
        try {
          while (respondedAfter < 100) {
            const pet = next()
            const response = await client.send({ key, path: "/pets", body: Load.bodyOf(pet) })
            expect(response.status).toBe(201)
            const created = Load.petIn(response.body)
            expect(Load.isSame(created, pet)).toBe(true)
            acknowledged.push(created)
            worker = Workers.workerOf(response)
            if (victim !== undefined) respondedAfter++
            if (acknowledged.length >= 60 && victim === undefined) {
              victim = workers()[0]
              process.kill(victim ?? 0, "SIGKILL")
            }
          }
          if (worker !== undefined) undisturbed.add(worker)
        } catch (error) {
          if (worker === undefined) throw error
          brokenOf.add(worker)
        }
      })
      // All broken connections belonged to one process, and the other process lost no connection.
      expect([brokenOf.size, undisturbed.size]).toEqual([1, 1])
      expect(undisturbed).not.toEqual(brokenOf)
      // The sum of the metrics never decreases.
      expect(Workers.valueOf(await metrics(), admitted)).toBeGreaterThanOrEqual(sum)
      await waitForLog(
        new RegExp(`process ${victim}\\) was killed by SIGKILL; another one starts in [12] s\n`)
      )
      await waitForLog(/(?:[\s\S]*serves again\n){2}/)
      const [reader] = (await Workers.connectToEach(server(), 2)).values()
      for (const pet of acknowledged) {
        const response = await reader?.send({ key, path: `/pets/${pet.id}` })
        expect([response?.status, Load.petIn(response?.body ?? "")]).toEqual([200, pet])
      }
      expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(acknowledged.length)
    },
    TIMEOUT_MS
  )

  it(
    "drains after SIGTERM, loses no request, still counts in the metrics, and is replaced",
    async () => {
      const { key, url, waitForLog, workers } = server()
      const before = await metrics()
      let isReplaced = false
      void waitForLog(/(?:[\s\S]*serves again\n){3}/).then(() => {
        isReplaced = true
      })
      let sent = 0
      let closed = 0
      const statuses = new Set<number>()
      await Load.runClients([url], 8, async (client) => {
        while (!isReplaced) {
          if (sent++ === 40) process.kill(workers()[0] ?? 0, "SIGTERM")
          const response = await client.send({ key, path: "/pets?limit=1" })
          statuses.add(response.status)
          if (response.header("connection") === "close") closed++
          await sleep(100)
        }
      })
      expect([...statuses]).toEqual([200])
      expect(closed).toBeGreaterThan(0)
      await waitForLog(/worker \d \(process \d+\) exited with code 0; another one starts in [12] s\n/)
      await Workers.connectToEach(server(), 2)
      const after = await metrics()
      expect(Workers.valueOf(after, admitted)).toBeGreaterThanOrEqual(
        Workers.valueOf(before, admitted) + sent
      )
      expect(Workers.valueOf(after, "animal_store_workers")).toBe(2)
      expect(Workers.valueOf(after, "animal_store_worker_exits_total")).toBe(3)
    },
    TIMEOUT_MS
  )

  it(
    "is replaced as soon as the database can be opened again",
    async () => {
      const { waitForLog, workers } = server()
      const filename = database.slice("sqlite:".length)
      fs.renameSync(filename, `${filename}.away`)
      fs.mkdirSync(filename)
      process.kill(workers()[0] ?? 0, "SIGKILL")
      const [, reason] = await waitForLog(/could not start: (.*); another one starts in [248] s\n/)
      expect(reason).toMatch(/^--database \(ANIMAL_STORE_DATABASE\): .*it is a directory$/)
      fs.rmdirSync(filename)
      fs.renameSync(`${filename}.away`, filename)
      await waitForLog(/(?:[\s\S]*serves again\n){4}/)
      await Workers.connectToEach(server(), 2)
    },
    TIMEOUT_MS
  )

  it(
    "finishes its requests in flight if the primary is killed, and then exits",
    async () => {
      const { key, process: primary, url, workers } = server()
      const pids = workers()
      const body = '{"name":"Rex","categoryId":1}'
      const { hostname, port } = new URL(url)
      const socket = net.connect(Number(port), hostname)
      socket.write(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
      )
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 100 /)
      primary.kill("SIGKILL")
      await Workers.waitUntil(() => Ports.refusesConnections(url))
      socket.write(body)
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
      await Workers.waitUntil(() => !pids.some(Workers.isAlive))
    },
    TIMEOUT_MS
  )
})

Workers.describeWorkers("a server with workers and without a drain period", () => {
  it.each(["the primary", "every process"])(
    "responds on all earlier connections when a signal is sent to %s",
    async (target) => {
      const served = await Workers.serve(2, (await Databases.createForTest(Databases.sqlite)).address)
      const { key, url, workers } = served
      const signaled = target === "the primary" ? [] : workers()
      const { hostname, port } = new URL(url)
      const responses: Array<Promise<string>> = []
      const connected = Array.from({ length: 60 }, async () => {
        const socket = net.connect(Number(port), hostname)
        socket.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
        responses.push(
          new Promise((resolve) => {
            socket.once("data", (chunk) => resolve(String(chunk).slice(0, 12)))
            socket.once("error", (error) => resolve(error.message))
            socket.once("close", () => resolve("closed"))
          })
        )
        await once(socket, "connect")
      })
      await Promise.all(connected)
      // Most connections are still in the queue of the operating system, or are being sent to a worker.
      for (const pid of signaled) process.kill(pid, "SIGTERM")
      served.process.kill("SIGTERM")
      expect(new Set(await Promise.all(responses))).toEqual(new Set(["HTTP/1.1 200"]))
      expect(await served.ended).toMatchObject({ code: 0, signal: null })
    }
  )
})
