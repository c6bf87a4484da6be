/** Measures how soon `serve` starts or fails, and lets Prometheus scrape it. */
import { execFile, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"
import * as Schema from "effect/Schema"
import { expect, it, onTestFinished } from "vitest"
import { serveJson } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import * as Ports from "./Ports.fixture.ts"
import { run, start, stop } from "./Serve.fixture.ts"

it("serve listens within one second of its launch on a machine where Node starts in 50 ms", async () => {
  const startupTimes: Array<number> = []
  const bareStartupTimes: Array<number> = []
  // Other tests use the same cores, so the best of several starts is compared with starts of a bare Node process.
  for (let round = 0; round < 5; round++) {
    const begin = performance.now()
    await promisify(execFile)(process.execPath, ["-e", "0"])
    bareStartupTimes.push(performance.now() - begin)
    const server = await start(["--json", "--port", "0", "--database", "memory:"], { NODE_COMPILE_CACHE: "" })
    startupTimes.push(server.startupMs)
    await stop(server, "SIGKILL")
  }
  expect(Math.min(...startupTimes)).toBeLessThan(Math.max(1_000, 20 * Math.min(...bareStartupTimes)))
})

it("serve fails within three seconds if its database server does not respond", async () => {
  const silentPort = Ports.portOf(await Ports.listen())
  const measureStartup = async (port: number): Promise<number> => {
    const startedAt = performance.now()
    const args = ["serve", "--database", `postgres://u:s3cret@127.0.0.1:${port}/x`]
    expect((await run(args)).code).toBe(1)
    return performance.now() - startedAt
  }
  // Compared with an unreachable server, because the start time of a process depends on the machine's load.
  const [unreachableMs, silentMs] = await Promise.all([measureStartup(1), measureStartup(silentPort)])
  expect(silentMs - unreachableMs).toBeLessThan(3_000)
})

/** Decodes the response of Prometheus to a query. */
const decodeQuery = Schema.decodeUnknownSync(
  Schema.Struct({
    data: Schema.Struct({
      result: Schema.Array(Schema.Struct({ value: Schema.Tuple([Schema.Number, Schema.String]) }))
    })
  })
)

const hasPrometheus = spawnSync("prometheus", ["--version"]).error === undefined

it.skipIf(!hasPrometheus)(
  `Prometheus can scrape the admin port${hasPrometheus ? "" : " (skipped: prometheus is not installed)"}`,
  async () => {
    const { get, waitForLog } = await serveJson(["--admin-port", "0"])
    const [, admin = ""] = await waitForLog(/metrics on (http:\S+)\/metrics/)
    await get("/pets")
    const directory = Directory.create()
    const config = path.join(directory, "prometheus.yml")
    fs.writeFileSync(
      config,
      `scrape_configs:\n- job_name: animals\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  static_configs:\n  - targets: ["${new URL(admin).host}"]\n`
    )
    const free = await Ports.listen()
    const port = Ports.portOf(free)
    await new Promise((resolve) => free.close(resolve))
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
    await expect
      .poll(() => query('sum(http_server_request_duration_seconds_count{http_route="/v1/pets"})'), {
        timeout: 60_000
      })
      .toBe("1")
    expect(await query('up{job="animals"}')).toBe("1")
  },
  120_000
)
