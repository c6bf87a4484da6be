/** Tests how long a run takes against our own server, in another process and over HTTP. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, loadavg } from "node:os"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"

const main = fileURLToPath(new URL("../../adapters/cli/main.ts", import.meta.url))

/** Maximum duration of a run on an idle machine, in milliseconds. */
const MAX_MS = 10_000

/** Maximum number of requests of a run at level spec. */
const MAX_REQUESTS = 3_000

const plans = ["enterprise:perMinute=100000,perDay=10000000", "enterprise:perMinute=5,perDay=40"]
const victim = "enterprise:perMinute=3,perDay=10000"

describe("a run at level spec with a clock, against our own server over HTTP", () => {
  it("is conformant, with fewer than 3,000 requests, and in less than 10 s on an idle machine", async () => {
    const server = spawn(
      process.execPath,
      [
        ...[main, "serve", "--port", "0", "--json", "--database", "memory:"],
        ...["--test-clock-port", "0"],
        ...[...plans, victim].flatMap((plan) => ["--issue-key", plan])
      ],
      { stdio: ["ignore", "pipe", "pipe"] }
    )
    let log = ""
    server.stderr.on("data", (part: Buffer) => {
      log += part.toString()
    })
    try {
      const [line] = await once(createInterface({ input: server.stdout }), "line")
      const started: {
        readonly url: string
        readonly keys: ReadonlyArray<{ readonly key: string }>
      } = JSON.parse(String(line))
      const clock = /test clock listens on (\S+)/.exec(log)?.[1] ?? ""
      const [key = "", tiny = "", banned = ""] = started.keys.map((issued) => issued.key)
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [
          ...[main, "conformance", "run", "--url", started.url, "--clock", clock, "--json"],
          ...["--key", "env:MAIN", "--tiny", "env:TINY:5:40", "--victim", "env:VICTIM:3:10000"]
        ],
        {
          env: { PATH: process.env.PATH ?? "", MAIN: key, TINY: tiny, VICTIM: banned },
          maxBuffer: 64_000_000
        }
      )
      const report: {
        readonly verdict: string
        readonly milliseconds: number
        readonly requests: number
      } = JSON.parse(stdout)
      expect(report.verdict).toBe("conformant")
      expect(report.requests).toBeLessThan(MAX_REQUESTS)
      // Two processes share the cores with other work, so the allowed time grows with the load of the machine.
      const [lastMinute = 0] = loadavg()
      const load = Math.max(1, (3 * lastMinute) / availableParallelism())
      expect(report.milliseconds).toBeLessThan(MAX_MS * load)
    } finally {
      server.kill("SIGKILL")
    }
  }, 300_000)
})
