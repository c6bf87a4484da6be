/** Tests that the processes of `serve --workers` behave like one server. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as net from "node:net"
import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Receiver from "../../embed/OtlpReceiver.fixture.ts"
import * as Databases from "../../sql/Databases.fixture.ts"
import * as Load from "../Load.fixture.ts"
import { run, stop } from "../Serve.fixture.ts"
import * as Workers from "./Workers.fixture.ts"

const createDatabase = async (): Promise<string> => (await Databases.createForTest(Databases.sqlite)).address

const refusesConnections = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname, () => {
      socket.destroy()
      resolve(false)
    })
    socket.once("error", () => resolve(true))
  })

const describeWorkers =
  Workers.missing === undefined
    ? describe
    : (title: string, tests: () => void) => describe.skip(`${title} (skipped: ${Workers.missing})`, tests)

describe("serve --workers with invalid flags", () => {
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
})

describe("serve --workers", () => {
  const expectSameFailure = async (args: ReadonlyArray<string>) => {
    const single = await run(["serve", ...args])
    const withWorkers = await run(["serve", "--workers", "2", ...args])
    expect(single.code).toBe(1)
    expect(withWorkers).toEqual(single)
    return single.stderr
  }

  it("reports a taken port with the message and the exit code of a single process", async () => {
    const otherServer = net.createServer()
    await new Promise<void>((resolve) => otherServer.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void otherServer.close())
    const address = otherServer.address()
    const port = typeof address === "object" ? String(address?.port) : ""
    expect(await expectSameFailure(["--database", await createDatabase(), "--port", port])).toContain(
      "EADDRINUSE"
    )
  })

  it("reports an unusable database with the message and the exit code of a single process", async () => {
    expect(
      await expectSameFailure(["--port", "0", "--database", "postgres://x:secret@127.0.0.1:1/none"])
    ).toMatch(/^animal-store: --database \(ANIMAL_STORE_DATABASE\): .*\n$/)
  })
})

describeWorkers("several workers", () => {
  it("share the port, the start line and the key; each connection stays with one worker", async () => {
    const database = await createDatabase()
    const served = await Workers.serve(3, database)
    expect(served.server.greeting.trim().split("\n")).toHaveLength(1)
    expect(served.workers()).toHaveLength(3)
    const clients = await Workers.connectToEach(served, 3)
    for (const [worker, client] of clients) {
      const { key } = served
      for (let sent = 0; sent < 5; sent++) {
        const response = await client.send({ key, path: "/pets?limit=1" })
        expect([response.status, Workers.workerOf(response)]).toEqual([200, worker])
      }
    }
    const { code, signal, stderr } = await stop(served.server)
    expect([code, signal]).toEqual([0, null])
    // One line for each event, although three processes took part in it.
    expect(stderr.match(/key issued/g)).toHaveLength(1)
    expect(stderr.match(/stopping/g)).toHaveLength(1)
  })

  it("serve the same reference page", async () => {
    const { server, url } = await Workers.serve(2, await createDatabase())
    const tags = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const response = await fetch(new URL("/docs", url), { headers: { Connection: "close" } })
        return [response.status, response.headers.get("etag")]
      })
    )
    expect(new Set(tags.map((tag) => tag.join(" "))).size).toBe(1)
    expect(tags[0]?.[0]).toBe(200)
    await stop(server)
  })

  it("issue the requested key only once, even with --first-key", async () => {
    const { code, stdout } = await (async () => {
      const server = await Workers.serve(2, await createDatabase(), ["--first-key"], { plan: "Pro" })
      expect(JSON.parse(server.server.greeting).keys).toEqual([expect.objectContaining({ plan: "Pro" })])
      return stop(server.server)
    })()
    expect([code, stdout.trim().split("\n").length]).toEqual([0, 1])
  })
})

describeWorkers("--workers auto", () => {
  it("starts one worker per available core", async () => {
    const served = await Workers.serve("auto", await createDatabase())
    expect(served.workers()).toHaveLength(availableParallelism())
    await Workers.connectToEach(served, availableParallelism())
  })
})

describeWorkers("a worker that is killed", () => {
  it("breaks only its own connections, loses no acknowledged animal, and is replaced", async () => {
    const served = await Workers.serve(3, await createDatabase())
    const { key, server, url, workers } = served
    const before = workers()
    const next = Load.makeAnimals(7)
    const acknowledged: Array<Load.WirePet> = []
    const brokenOf = new Set<string>()
    const undisturbed = new Set<string>()
    let victim: number | undefined
    let respondedAfter = 0
    await Load.runClients([url], 24, async (client) => {
      let worker: string | undefined
      try {
        while (respondedAfter < 400) {
          const pet = next()
          const response = await client.send({ key, path: "/pets", body: Load.bodyOf(pet) })
          expect(response.status).toBe(201)
          const created = Load.petIn(response.body)
          expect(Load.isSame(created, pet)).toBe(true)
          acknowledged.push(created)
          worker = Workers.workerOf(response)
          if (victim !== undefined) respondedAfter++
          if (acknowledged.length >= 150 && victim === undefined) {
            victim = before[1]
            process.kill(victim ?? 0, "SIGKILL")
          }
        }
        if (worker !== undefined) undisturbed.add(worker)
      } catch (error) {
        if (worker === undefined) throw error
        brokenOf.add(worker)
      }
    })
    // All broken connections belonged to one process, and no other process lost a connection.
    expect([brokenOf.size, undisturbed.size]).toEqual([1, 2])
    expect([...undisturbed].filter((worker) => brokenOf.has(worker))).toEqual([])

    await server.waitForLog(
      new RegExp(`worker 2 \\(process ${victim}\\) was killed by SIGKILL; another one starts in 1 s\n`)
    )
    await server.waitForLog(/worker 2 \(process \d+\) serves again\n/)
    const clients = await Workers.connectToEach(served, 3)
    const [reader] = clients.values()
    for (const pet of acknowledged) {
      const read = await reader?.send({ key, path: `/pets/${pet.id}` })
      expect([read?.status, Load.petIn(read?.body ?? "")]).toEqual([200, pet])
    }
    expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(acknowledged.length)
    expect(workers()).toHaveLength(3)
    expect((await stop(server)).code).toBe(0)
  })

  it("loses no connection that it had not accepted: another worker gets it", async () => {
    const served = await Workers.serve(2, await createDatabase())
    const { key, url, workers } = served
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
  })

  it("is replaced after increasing delays if it is killed repeatedly", async () => {
    const { server, workers } = await Workers.serve(2, await createDatabase())
    const [first = 0, survivor] = workers()
    process.kill(first, "SIGKILL")
    await server.waitForLog(/another one starts in 1 s\n[\s\S]*serves again\n/)
    const second = workers().find((pid) => pid !== survivor) ?? 0
    process.kill(second, "SIGKILL")
    await server.waitForLog(/another one starts in 2 s\n[\s\S]*serves again\n/)
    expect(workers()).toHaveLength(2)
    expect((await stop(server)).code).toBe(0)
  })

  it("is replaced as soon as the database can be opened again", async () => {
    const database = await createDatabase()
    const filename = database.slice("sqlite:".length)
    const served = await Workers.serve(2, database)
    const { server, workers } = served
    fs.renameSync(filename, `${filename}.away`)
    fs.mkdirSync(filename)
    process.kill(workers()[0] ?? 0, "SIGKILL")
    const [, reason] = await server.waitForLog(/could not start: (.*); another one starts in 2 s\n/)
    expect(reason).toMatch(/^--database \(ANIMAL_STORE_DATABASE\): .*it is a directory$/)
    fs.rmdirSync(filename)
    fs.renameSync(`${filename}.away`, filename)
    await server.waitForLog(/serves again\n/)
    await Workers.connectToEach(served, 2)
    expect((await stop(server)).code).toBe(0)
  })

  it("is replaced on the same port even if all workers are killed", async () => {
    const served = await Workers.serve(2, await createDatabase())
    for (const pid of served.workers()) process.kill(pid, "SIGKILL")
    await served.server.waitForLog(/(?:[\s\S]*serves again\n){2}/)
    await Workers.connectToEach(served, 2)
    expect((await stop(served.server)).code).toBe(0)
  })
})

describeWorkers("a worker", () => {
  it("ignores SIGINT and SIGHUP, which a terminal sends to every process", async () => {
    const served = await Workers.serve(2, await createDatabase())
    const pids = served.workers()
    for (const pid of pids) for (const signal of ["SIGINT", "SIGHUP"]) process.kill(pid, signal)
    await sleep(500)
    expect(pids.filter(Workers.isAlive)).toEqual(pids)
    await Workers.connectToEach(served, 2)
    const { code, stderr } = await stop(served.server)
    expect([code, /another one starts/.test(stderr)]).toEqual([0, false])
  })
})

describeWorkers("a worker that gets SIGTERM", () => {
  it("drains, loses no request, and is replaced", async () => {
    const served = await Workers.serve(2, await createDatabase(), [], {
      environment: { ANIMAL_STORE_DRAIN: "1s" }
    })
    const { key, server, url, workers } = served
    let isReplaced = false
    void server.waitForLog(/serves again\n/).then(() => {
      isReplaced = true
    })
    let sent = 0
    let closed = 0
    const statuses = new Set<number>()
    await Load.runClients([url], 8, async (client) => {
      while (!isReplaced) {
        if (sent++ === 100) process.kill(workers()[0] ?? 0, "SIGTERM")
        const response = await client.send({ key, path: "/pets?limit=1" })
        statuses.add(response.status)
        if (response.header("connection") === "close") closed++
      }
    })
    expect([...statuses]).toEqual([200])
    expect(closed).toBeGreaterThan(0)
    await server.waitForLog(/worker \d \(process \d+\) exited with code 0; another one starts in 1 s\n/)
    await Workers.connectToEach(served, 2)
    expect((await stop(server)).code).toBe(0)
  })
})

describeWorkers("a server with workers", () => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGINT", "SIGHUP"])(
    "loses no request on %s, and each connection gets Connection: close",
    async (signal) => {
      const served = await Workers.serve(2, await createDatabase(), [], {
        environment: { ANIMAL_STORE_DRAIN: "2s" }
      })
      const { key, server, url, workers } = served
      const pids = workers()
      let sent = 0
      const outcomes = await Load.runClients([url], 16, async (client): Promise<string> => {
        for (;;) {
          if (sent++ === 500) server.process.kill(signal)
          try {
            const response = await client.send({ key, path: "/pets?limit=1" })
            if (response.status !== 200) return `status ${response.status}`
            if (response.header("connection") === "close") return "closed"
          } catch (error) {
            return `lost: ${error}`
          }
        }
      })
      expect(outcomes).toEqual(Array.from({ length: 16 }, () => "closed"))
      const { code, signal: endedBy, stderr } = await server.ended
      expect([code, endedBy, stderr.match(/stopping/g)?.length]).toEqual([0, null, 1])
      expect(stderr).not.toMatch(/another one starts/)
      expect(pids.filter(Workers.isAlive)).toEqual([])
      expect(await refusesConnections(url)).toBe(true)
    }
  )

  it.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
    "drains until a second signal when %s reaches every process, as from a terminal or systemd",
    async (signal) => {
      const served = await Workers.serve(2, await createDatabase(), [], {
        environment: { ANIMAL_STORE_DRAIN: "1h" }
      })
      const { server, workers } = served
      const clients = await Workers.connectToEach(served, 2)
      const allPids = [...workers(), server.process.pid ?? 0]
      for (const pid of workers()) process.kill(pid, signal)
      // Waits longer than the time in which a second signal counts as a duplicate.
      await sleep(1_300)
      server.process.kill(signal)
      await server.waitForLog(/stopping/)
      await sleep(1_300)
      // The drain continues in both workers.
      for (const client of clients.values()) {
        const response = await client.send({ key: served.key, path: "/pets?limit=1" })
        expect([response.status, response.header("connection")]).toEqual([200, "close"])
      }
      expect(allPids.filter(Workers.isAlive)).toEqual(allPids)
      for (const pid of allPids) process.kill(pid, signal)
      const { code, stderr } = await server.ended
      expect([code, stderr.match(/stopping/g)?.length]).toEqual([0, 1])
      expect(stderr).not.toMatch(/another one starts/)
      expect(allPids.filter(Workers.isAlive)).toEqual([])
    }
  )

  it("returns 503 on /readyz of each worker during the drain, which a second signal ends", async () => {
    const served = await Workers.serve(2, await createDatabase(), ["--admin-port", "0"], {
      environment: { ANIMAL_STORE_DRAIN: "1h" }
    })
    const { server, url } = served
    const [, admin] = await server.waitForLog(/metrics on (http:\S+)\/metrics/)
    expect((await fetch(`${admin}/readyz`)).status).toBe(200)
    await Workers.connectToEach(served, 2)
    server.process.kill("SIGTERM")
    await server.waitForLog(/stopping/)
    await Workers.waitUntil(async () => (await fetch(`${admin}/readyz`)).status === 503)
    for (let probe = 0; probe < 6; probe++) {
      expect((await fetch(new URL("/readyz", url))).status).toBe(503)
    }
    await sleep(1_100)
    server.process.kill("SIGTERM")
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
  })

  it.each(["the primary", "every process"])(
    "responds on all earlier connections when a signal is sent to %s",
    async (target) => {
      const { key, server, url, workers } = await Workers.serve(2, await createDatabase())
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
      server.process.kill("SIGTERM")
      expect(new Set(await Promise.all(responses))).toEqual(new Set(["HTTP/1.1 200"]))
      expect(await server.ended).toMatchObject({ code: 0, signal: null })
    }
  )

  it("stops immediately if there was no request", async () => {
    const { server } = await Workers.serve(2, await createDatabase(), [], {
      environment: { ANIMAL_STORE_DRAIN: "1h" }
    })
    expect(await stop(server)).toMatchObject({ code: 0, signal: null })
  })

  it("leaves no worker if the primary is killed, and finishes requests in flight", async () => {
    const { key, server, url, workers } = await Workers.serve(2, await createDatabase())
    const pids = workers()
    const body = '{"name":"Rex","categoryId":1}'
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname)
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    )
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 100 /)
    server.process.kill("SIGKILL")
    await Workers.waitUntil(() => refusesConnections(url))
    await sleep(300)
    socket.write(body)
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
    await Workers.waitUntil(() => !pids.some(Workers.isAlive))
  })
})

describeWorkers("the log of workers", () => {
  it("consists of whole lines, one per response", async () => {
    const served = await Workers.serve(3, await createDatabase(), ["--access-log", "--log-format", "json"])
    const ids = new Set<string>()
    await Load.runClients([served.url], 30, async (client) => {
      for (let sent = 0; sent < 50; sent++) {
        const response = await client.send({ key: served.key, path: "/pets?limit=1" })
        ids.add(response.header("x-request-id"))
      }
    })
    const { stderr } = await stop(served.server)
    const lines = stderr
      .trim()
      .split("\n")
      .map((line): { readonly request?: string } => JSON.parse(line))
    const logged = lines.flatMap(({ request }) => (request === undefined ? [] : [request]))
    expect(logged.sort()).toEqual([...ids].sort())
    expect(ids.size).toBe(1_500)
  })
})

const valueOf = (text: string, series: string): number =>
  Number(new RegExp(`^${series.replaceAll(/[{}"]/g, "\\$&")} (.*)$`, "m").exec(text)?.[1])

describeWorkers("the metrics of workers", () => {
  const admitted = 'animal_store_admissions_total{outcome="admitted",plan="Enterprise"}'

  it("never decrease in sum, even while a worker hangs and after it exits", async () => {
    const served = await Workers.serve(2, await createDatabase(), ["--admin-port", "0"])
    const { key, server, workers } = served
    const [, admin] = await server.waitForLog(/metrics on (http:\S+)\/metrics/)
    const scrape = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text()
    const clients = await Workers.connectToEach(served, 2)
    let sent = valueOf(await scrape(), admitted)
    for (const client of clients.values()) {
      for (let count = 0; count < 10; count++, sent++) await client.send({ key, path: "/pets?limit=1" })
    }
    const text = await scrape()
    expect(valueOf(text, admitted)).toBe(sent)
    expect(text.match(/^process_cpu_seconds_total\{worker="[12]"\} /gm)).toHaveLength(2)
    expect(valueOf(text, "animal_store_workers")).toBe(2)

    const [hung = 0] = workers()
    process.kill(hung, "SIGSTOP")
    onTestFinished(() => {
      if (Workers.isAlive(hung)) process.kill(hung, "SIGKILL")
    })
    const startedAt = performance.now()
    expect(valueOf(await scrape(), admitted)).toBe(sent)
    expect(performance.now() - startedAt).toBeLessThan(3_000)
    expect((await fetch(`${admin}/livez`)).status).toBe(200)
    expect((await fetch(`${admin}/readyz`)).status).toBe(200)

    process.kill(hung, "SIGKILL")
    await server.waitForLog(/was killed by SIGKILL/)
    const after = await scrape()
    expect(valueOf(after, admitted)).toBe(sent)
    expect([
      valueOf(after, "animal_store_workers"),
      valueOf(after, "animal_store_worker_exits_total")
    ]).toEqual([1, 1])
    await server.waitForLog(/serves again/)
    const renewed = await Workers.connectToEach(served, 2)
    await renewed.values().next().value?.send({ key, path: "/pets?limit=1" })
    expect(valueOf(await scrape(), admitted)).toBeGreaterThan(sent)
  })

  it("include the counts of workers that exited after SIGTERM and were never scraped", async () => {
    const served = await Workers.serve(2, await createDatabase(), ["--admin-port", "0"])
    const [, admin] = await served.server.waitForLog(/metrics on (http:\S+)\/metrics/)
    const clients = await Workers.connectToEach(served, 2)
    for (const client of clients.values()) client.close()
    for (const pid of served.workers()) process.kill(pid, "SIGTERM")
    await served.server.waitForLog(/(?:[\s\S]*exited with code 0;){2}/)
    const text = await (await fetch(`${admin}/metrics`)).text()
    expect(valueOf(text, admitted)).toBeGreaterThanOrEqual(2)
  })

  const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined

  it.skipIf(!hasPromtool)(
    `pass the checks of promtool${hasPromtool ? "" : " (skipped: promtool is not installed)"}`,
    async () => {
      const served = await Workers.serve(2, await createDatabase(), ["--admin-port", "0"])
      const [, admin] = await served.server.waitForLog(/metrics on (http:\S+)\/metrics/)
      await Workers.connectToEach(served, 2)
      const input = await (await fetch(`${admin}/metrics`)).text()
      const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], {
        input,
        encoding: "utf8"
      })
      expect([status, stdout, stderr]).toEqual([0, "", ""])
    }
  )
})

describeWorkers("--otlp with workers", () => {
  it("exports from each worker with a different service.instance.id", async () => {
    const receiver = await Receiver.start()
    const served = await Workers.serve(2, await createDatabase(), [
      "--otlp",
      receiver.url,
      "--trace-sample",
      "1"
    ])
    await Workers.connectToEach(served, 2)
    expect((await stop(served.server)).code).toBe(0)
    expect(receiver.spans.map(({ name }) => name)).toContain("GET /v1/pets")
    const ids = new Set(receiver.resources.map((resource) => resource["service.instance.id"]))
    expect(ids.size).toBe(2)
  })
})
