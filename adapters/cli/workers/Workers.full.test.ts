/** Tests more shutdowns, failures and outputs of `serve --workers`; each test has a server of its own. */
import { spawnSync } from "node:child_process"
import { availableParallelism } from "node:os"
import { expect, it } from "vitest"
import * as Receiver from "../../embed/OtlpReceiver.fixture.ts"
import * as Databases from "../../sql/Databases.fixture.ts"
import * as Load from "../Load.fixture.ts"
import * as Ports from "../Ports.fixture.ts"
import { stop } from "../Serve.fixture.ts"
import * as Workers from "./Workers.fixture.ts"

const createDatabase = async (): Promise<string> => (await Databases.createForTest(Databases.sqlite)).address

Workers.describeWorkers("--workers auto", () => {
  it("starts one worker per available core", async () => {
    const served = await Workers.serve("auto", await createDatabase())
    expect(served.workers()).toHaveLength(availableParallelism())
    await Workers.connectToEach(served, availableParallelism())
  })
})

Workers.describeWorkers("a worker that is killed", () => {
  it("is replaced after increasing delays if it is killed repeatedly", async () => {
    const server = await Workers.serve(2, await createDatabase())
    const { workers } = server
    const [first = 0, survivor] = workers()
    process.kill(first, "SIGKILL")
    await server.waitForLog(/another one starts in 1 s\n[\s\S]*serves again\n/)
    const second = workers().find((pid) => pid !== survivor) ?? 0
    process.kill(second, "SIGKILL")
    await server.waitForLog(/another one starts in 2 s\n[\s\S]*serves again\n/)
    expect(workers()).toHaveLength(2)
    expect((await stop(server)).code).toBe(0)
  })

  it("is replaced on the same port even if all workers are killed", async () => {
    const served = await Workers.serve(2, await createDatabase())
    for (const pid of served.workers()) process.kill(pid, "SIGKILL")
    await served.waitForLog(/(?:[\s\S]*serves again\n){2}/)
    await Workers.connectToEach(served, 2)
    expect((await stop(served)).code).toBe(0)
  })
})

Workers.describeWorkers("a server with workers", () => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGHUP"])(
    "loses no request on %s, and each connection gets Connection: close",
    async (signal) => {
      const served = await Workers.serve(2, await createDatabase(), [], {
        environment: { ANIMAL_STORE_DRAIN: "2s" }
      })
      const { key, url, workers } = served
      const pids = workers()
      let sent = 0
      const outcomes = await Load.runClients([url], 16, async (client): Promise<string> => {
        for (;;) {
          if (sent++ === 500) served.process.kill(signal)
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
      const { code, signal: endedBy, stderr } = await served.ended
      expect([code, endedBy, stderr.match(/stopping/g)?.length]).toEqual([0, null, 1])
      expect(stderr).not.toMatch(/another one starts/)
      expect(pids.filter(Workers.isAlive)).toEqual([])
      expect(await Ports.refusesConnections(url)).toBe(true)
    }
  )

  it("stops immediately if there was no request", async () => {
    const server = await Workers.serve(2, await createDatabase(), [], {
      environment: { ANIMAL_STORE_DRAIN: "1h" }
    })
    expect(await stop(server)).toMatchObject({ code: 0, signal: null })
  })
})

Workers.describeWorkers("the metrics of workers", () => {
  const admitted = 'animal_store_admissions_total{outcome="admitted",plan="Enterprise"}'

  it("include the counts of workers that exited after SIGTERM and were never scraped", async () => {
    const served = await Workers.serve(2, await createDatabase(), ["--admin-port", "0"])
    const admin = await served.admin()
    const clients = await Workers.connectToEach(served, 2)
    for (const client of clients.values()) client.close()
    for (const pid of served.workers()) process.kill(pid, "SIGTERM")
    await served.waitForLog(/(?:[\s\S]*exited with code 0;){2}/)
    const text = await (await fetch(`${admin}/metrics`)).text()
    expect(Workers.valueOf(text, admitted)).toBeGreaterThanOrEqual(2)
  })

  const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined

  it.skipIf(!hasPromtool)(
    `pass the checks of promtool${hasPromtool ? "" : " (skipped: promtool is not installed)"}`,
    async () => {
      const served = await Workers.serve(2, await createDatabase(), ["--admin-port", "0"])
      const admin = await served.admin()
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

Workers.describeWorkers("--otlp with workers", () => {
  it("exports from each worker with a different service.instance.id", async () => {
    const receiver = await Receiver.start()
    const served = await Workers.serve(2, await createDatabase(), [
      "--otlp",
      receiver.url,
      "--trace-sample",
      "1"
    ])
    await Workers.connectToEach(served, 2)
    expect((await stop(served)).code).toBe(0)
    expect(receiver.spans.map(({ name }) => name)).toContain("GET /v1/pets")
    const ids = new Set(receiver.resources.map((resource) => resource["service.instance.id"]))
    expect(ids.size).toBe(2)
  })
})
