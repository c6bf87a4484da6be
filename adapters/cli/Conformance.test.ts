/** Runs the conformance commands inside the test process, against servers inside it. */
import * as fs from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Result from "effect/Result"
import { describe, expect, it, onTestFinished } from "vitest"
import type { Report } from "../../conformance/engine/Report.ts"
import * as HarSchema from "../../conformance/reports/HarSchema.fixture.ts"
import * as Json from "../../conformance/reports/Json.ts"
import * as CommandLine from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"

const TIMEOUT_MS = 600_000

const conformance = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): Promise<CommandLine.Result> => CommandLine.run(["conformance", ...args], { NO_COLOR: "1", ...environment })

interface Server {
  readonly url: string
  readonly clock: string
  readonly flags: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
}

/** The per-minute and the daily limits. */
const plans = { main: "100000:10000000", tiny: "5:40", victim: "3:10000" }

/** Starts the reference server with a test clock. */
const startReference = async (): Promise<Server> => {
  const issue = (limits: string): ReadonlyArray<string> => {
    const [perMinute, perDay] = limits.split(":")
    return ["--issue-key", `enterprise:perMinute=${perMinute},perDay=${perDay}`]
  }
  const { keys, url, waitForLog } = await CommandLine.serveJson([
    "--test-clock-port",
    "0",
    ...Object.values(plans).flatMap(issue)
  ])
  const [clock] = await waitForLog(/http:\S+\/clock/)
  const [MAIN = "", TINY = "", VICTIM = ""] = keys.map(({ key }) => key)
  return {
    url,
    clock,
    flags: [
      ...["--url", url, "--key", "env:MAIN"],
      ...["--tiny", `env:TINY:${plans.tiny}`, "--victim", `env:VICTIM:${plans.victim}`]
    ],
    environment: { MAIN, TINY, VICTIM }
  }
}

const secretsOf = ({ environment }: Server): ReadonlyArray<string> => Object.values(environment)

const reportOf = (text: string): Report => Result.getOrThrow(Json.parse(text))

/** Starts a proxy that modifies the response bodies of another server. */
const startModifyingProxy = async (
  target: string,
  modify: (body: string, status: number) => string,
  port = 0
): Promise<string> => {
  const server = http.createServer((request, response) => {
    const forwarded = http.request(
      target.replace(/\/v1$/, "") + request.url,
      { method: request.method, headers: request.headers },
      (upstream) => {
        let body = ""
        upstream.setEncoding("utf8").on("data", (chunk: string) => {
          body += chunk
        })
        upstream.once("end", () => {
          const text = modify(body, upstream.statusCode ?? 0)
          const { "content-length": _, ...headers } = upstream.headers
          response.writeHead(upstream.statusCode ?? 500, headers).end(text)
        })
      }
    )
    request.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const address = server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
  return `http://127.0.0.1:${address.port}/v1`
}

describe("animal-store conformance run", () => {
  it(
    "reports the reference server as conformant at level design, within 5,000 requests",
    async () => {
      const server = await startReference()
      const out = path.join(Directory.create(), "own")
      const implementationFlags = [
        "--implementation",
        "Ours",
        "--implementation-version",
        "1.2",
        "--contact",
        "a@b.example"
      ]
      const { code, stderr, stdout } = await conformance(
        [
          "run",
          ...server.flags,
          "--clock",
          server.clock,
          "--seed",
          "1",
          "--level",
          "design",
          "--out",
          out,
          ...implementationFlags
        ],
        server.environment
      )
      expect(stdout, stdout).toMatch(/^CONFORMANT at level design: all \d+ checks passed/)
      expect(code).toBe(0)
      expect(stderr).toMatch(/^(?:\[\d+\/\d+\] .* requests, .*\n)*$/)
      const report = reportOf(fs.readFileSync(path.join(out, "report.json"), "utf8"))
      expect(report.requests).toBeLessThan(5_000)
      expect(report).toMatchObject({
        implementation: { name: "Ours", version: "1.2", contact: "a@b.example" },
        contract: { version: "1.0.0" },
        limits: { requests: 6_000, milliseconds: 180_000, only: [], exclude: [] }
      })
      expect(fs.readdirSync(out).toSorted()).toEqual([
        "badge.svg",
        "exchanges.har",
        "junit.xml",
        "report.html",
        "report.json",
        "report.txt"
      ])
      expect(fs.readFileSync(path.join(out, "badge.svg"), "utf8")).toContain(
        "<title>Ours 1.2, a@b.example: conformant at level design, "
      )
      const archive = HarSchema.parse(fs.readFileSync(path.join(out, "exchanges.har"), "utf8"))
      expect(archive.log.entries).toHaveLength(report.requests)
      expect(archive.log.entries[0]?.request.url).toMatch(server.url)
      const written = fs.readdirSync(out).map((name) => fs.readFileSync(path.join(out, name), "utf8"))
      for (const secret of secretsOf(server)) {
        expect([stdout, stderr, ...written].some((text) => text.includes(secret))).toBe(false)
      }
    },
    TIMEOUT_MS
  )

  it(
    "is inconclusive without a clock, which it names as the reason, and exits with 0 if that is allowed",
    async () => {
      const server = await startReference()
      const { code, stdout } = await conformance(
        ["run", ...server.flags, "--only", "auth,deprecation", "--allow-inconclusive"],
        server.environment
      )
      expect(stdout).toMatch(/^INCONCLUSIVE at level spec/)
      expect(stdout.match(/^INCONCLUSIVE {2}.*$/gm)).toEqual([
        expect.stringMatching(/it needs a clock that can be moved/)
      ])
      expect(stdout).toMatch(/^conformant: auth$/m)
      expect(code).toBe(0)
    },
    TIMEOUT_MS
  )

  it(
    "reports a violated clause of a faulty server with its history and a replay token, which can be replayed",
    async () => {
      const server = await startReference()
      const url = await startModifyingProxy(server.url, (body, status) =>
        status === 201 ? body.replace(/"status":"\w+"/, '"status":"sold"') : body
      )
      const out = path.join(Directory.create(), "faulty")
      const flags = ["--url", url, ...server.flags.slice(2), "--clock", server.clock]
      const only = ["--only", "create.status-kept"]
      const { code, stdout } = await conformance(["run", ...flags, ...only, "--out", out], server.environment)
      expect(code).toBe(1)
      expect(stdout).toMatch(/^NOT CONFORMANT at level spec/)
      const report = reportOf(fs.readFileSync(path.join(out, "report.json"), "utf8"))
      const failed = report.checks.find(({ status }) => status === "fail")
      const { steps = [], token = "" } = failed?.counterexample ?? {}
      expect(stdout).toContain(token)
      expect(steps).toHaveLength(1)
      expect(steps[0]?.curl).toMatch(/^curl -i -H "Authorization: Bearer \$KEY"/)

      const replayed = await conformance(["replay", token, ...flags], server.environment)
      expect(replayed.stdout).toMatch(/^FAILED /)
      expect(replayed.code).toBe(1)
      const fixed = await conformance(["replay", token, ...server.flags], server.environment)
      expect(fixed.stdout).toMatch(/^FIXED /)
      expect(fixed.code).toBe(0)
    },
    TIMEOUT_MS
  )
})

describe("animal-store conformance with an invalid set-up", () => {
  const expectOneLine = ({ code, stderr, stdout }: CommandLine.Result): string => {
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr.trimEnd().split("\n")).toHaveLength(1)
    return stderr
  }

  it(
    "prints one line and exits with code 2",
    async () => {
      const server = await startReference()
      const otherServer = await startReference()
      const { TINY: tiny = "", VICTIM: victim = "" } = server.environment
      const key = ["--url", server.url, "--key", "env:MAIN"]
      const invalid: ReadonlyArray<readonly [args: ReadonlyArray<string>, pattern: RegExp]> = [
        [["run"], /--url: the base URL of the server is required/],
        [["run", "--url", "http://127.0.0.1:1/v1", "--key", "k"], /cannot reach http:\/\/127.0.0.1:1\/v1/],
        [["run", "--url", server.url, "--key", "wrong"], /rejects the main key/],
        [["run", "--url", "http://example.org/v1", "--key", "k"], /example.org is not this machine/],
        [["run", ...key, "--tiny", "env:TINY:60:1000"], /not on the declared plan/],
        [["run", ...key, "--victim", "wrong:5:40"], /rejects the key given with --victim/],
        [["run", ...key, "--clock", "http://127.0.0.1:1/clock"], /the clock \(--clock\) does not work/],
        [["run", ...key, "--only", "no.such"], /names no check or profile/],
        [["run", ...key, "--level", "perfect"], /--level: must be one of spec, design/],
        [["run", ...key, "--config", "/nowhere"], /--config: /],
        [["run", ...key, "--out", "/proc/animals/report"], /--out: /],
        [["run", ...key, "--out", "/dev/null"], /--out: /],
        [["run", ...key, "--contact", "a@b"], /--contact: must be an email address/],
        [["run", ...key, "--implementation-version", "1"], /--implementation: a version or a contact needs/],
        [["run", ...key, "--category", "1.5"], /--category: must be an integer/],
        [["replay", "junk", ...key], /this is not a replay token/],
        [["explain", "no.such"], /unknown check "no\.such"/]
      ]
      for (const [args, pattern] of invalid) {
        const message = expectOneLine(await conformance(args, server.environment))
        expect(message).toMatch(pattern)
        for (const secret of [tiny, victim]) expect(message).not.toContain(secret)
      }
      // A clock that works but belongs to another server.
      await fetch(`${otherServer.clock}/advance`, { method: "POST", body: '{"ms":100000000}' })
      const wrongClock = await conformance(["run", ...key, "--clock", otherServer.clock], server.environment)
      expect(expectOneLine(wrongClock)).toMatch(/it belongs to another server/)
    },
    TIMEOUT_MS
  )
})

describe("animal-store conformance", () => {
  it("doctor prints its findings, and how many requests and seconds a run would take", async () => {
    const server = await startReference()
    const { code, stdout } = await conformance(["doctor", ...server.flags], server.environment)
    expect(code).toBe(0)
    expect(stdout).toMatch(/accepts the main key/)
    expect(stdout).toMatch(/about \d+ requests and \d+ s/)
    expect(stdout).toMatch(/will stay inconclusive: it needs a clock/)
  })

  it(
    "doctor --wait waits for a server that is still starting, and fails if it never starts",
    async () => {
      const portFinder = http.createServer()
      await new Promise<void>((resolve) => portFinder.listen(0, "127.0.0.1", resolve))
      const { port } = portFinder.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
      await new Promise((resolve) => portFinder.close(resolve))
      const address = ["--url", `http://127.0.0.1:${port}/v1`, "--key", "env:MAIN"]
      const timedOut = await conformance(["doctor", ...address, "--wait", "1s"], { MAIN: "k" })
      expect(timedOut.code).toBe(2)
      expect(timedOut.stderr).toMatch(/is not ready after 1 s \(--wait\): connect ECONNREFUSED/)
      const server = await startReference()
      const waiting = conformance(["doctor", ...address, "--wait", "60s"], server.environment)
      // The command also passes if it starts to wait later.
      await sleep(500)
      const lateUrl = await startModifyingProxy(server.url, (body) => body, port)
      expect(lateUrl).toContain(String(port))
      expect((await waiting).stdout).toMatch(/accepts the main key/)
    },
    TIMEOUT_MS
  )

  it("list and explain describe the checks", async () => {
    const list = await conformance(["list"])
    expect(list.stdout).toMatch(/^list\.status\.filter +spec +http +A list/m)
    const explained = await conformance(["explain", "list.status.filter"])
    expect(explained.stdout).toContain("list.status.filter (§4.1, spec)")
  })

  it("run reads its set-up from a file", async () => {
    const server = await startReference()
    const config = path.join(Directory.create(), "config.json")
    const file = {
      url: server.url,
      keys: { main: "env:MAIN" },
      clock: server.clock,
      only: ["list.status.filter"]
    }
    fs.writeFileSync(config, JSON.stringify(file))
    const { code, stdout } = await conformance(["run", "--config", config], server.environment)
    expect(stdout).toMatch(/SELECTION PASSED at level spec/)
    expect(code).toBe(0)
  })
})
