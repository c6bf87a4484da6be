/** Measures the start of `serve`, and lets Prometheus scrape it. */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Schema from "effect/Schema"
import { expect, it, onTestFinished } from "vitest"
import { serveJson } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import * as Ports from "./Ports.fixture.ts"
import { start, stop } from "./Serve.fixture.ts"

const hasProc = fs.existsSync("/proc/self/stat")

/** Returns the processor time that a process has used, in seconds. Linux counts it in hundredths. */
const processorSeconds = (pid: number | undefined): number => {
  const fields = fs
    .readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

it.skipIf(!hasProc)(
  `serve listens after less than a second of processor time${hasProc ? "" : " (skipped: /proc/self/stat is missing)"}`,
  async () => {
    const times: Array<number> = []
    for (let round = 0; round < 3; round++) {
      const server = await start(["--json", "--port", "0", "--database", "memory:"], {
        NODE_COMPILE_CACHE: ""
      })
      times.push(processorSeconds(server.process.pid))
      await stop(server, "SIGKILL")
    }
    expect(Math.min(...times)).toBeLessThan(1)
  }
)

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
