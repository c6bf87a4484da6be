/**
 * Runs the suite on the servers in this repository and stores their reports: `node docs/OwnReports.ts [NAME…]`. Then
 * run `node docs/ImplementationsPage.ts`.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as ImplementationsPage from "./ImplementationsPage.ts"

const root = fileURLToPath(new URL("../", import.meta.url))
const main = join(root, "adapters/cli/main.ts")
const { version } = createRequire(import.meta.url)("../package.json")

/** A running server, its three keys and the address of its clock. */
interface Started {
  readonly url: string
  readonly clock: string
  readonly keys: ReadonlyArray<string>
  readonly stop: () => void
}

interface Server {
  readonly file: string
  readonly implementation: string
  readonly version: string
  readonly level: "spec" | "design"
  readonly start: () => Promise<Started>
}

const plans = ["100000:10000000", "5:40", "3:10000"] as const

/** Starts a server, and parses the first line that it prints. */
const startServer = async (command: string, args: ReadonlyArray<string>) => {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk
  })
  const lines = createInterface({ input: child.stdout })
  const exited = once(child, "exit").then(() => Promise.reject(new Error(`${command} exited: ${errors}`)))
  const [line] = await Promise.race([once(lines, "line"), exited])
  exited.catch(() => undefined)
  return { greeting: JSON.parse(String(line)), errors: () => errors, stop: () => child.kill("SIGTERM") }
}

/** Starts this project's own server. */
const startOwn = async (): Promise<Started> => {
  const limits = plans.map((plan) => plan.split(":"))
  const { errors, greeting, stop } = await startServer(process.execPath, [
    main,
    ...["serve", "--json", "--port", "0", "--database", "memory:", "--test-clock-port", "0"],
    ...limits.flatMap(([minute, day]) => ["--issue-key", `enterprise:perMinute=${minute},perDay=${day}`])
  ])
  const issued: ReadonlyArray<{ readonly key: string }> = greeting.keys
  return {
    url: greeting.url,
    clock: /http:\S+\/clock/.exec(errors())?.[0] ?? "",
    keys: issued.map(({ key }) => key),
    stop
  }
}

/**
 * Returns a function that starts a server in `conformance/foreign`; all have the same flags and the same first line.
 */
const startForeign =
  (command: string, ...args: ReadonlyArray<string>) =>
  async (): Promise<Started> => {
    const keys = ["main", "tiny", "victim"].map((name) => `${name}-key-of-the-report`)
    const { greeting, stop } = await startServer(command, [
      ...args,
      ...["--port", "0", "--test-clock-port", "0"],
      ...keys.flatMap((key, index) => ["--key", `${key}:${plans[index]}`])
    ])
    return { url: greeting.url, clock: greeting.clock, keys, stop }
  }

const servers: ReadonlyArray<Server> = [
  { file: "animal-store", implementation: "animal-store", version, level: "design", start: startOwn },
  {
    file: "python",
    implementation: "conformance/foreign/server.py",
    version,
    level: "spec",
    start: startForeign("python3", "conformance/foreign/server.py")
  },
  {
    file: "java",
    implementation: "conformance/foreign/Server.java",
    version,
    level: "spec",
    start: startForeign("java", "conformance/foreign/Server.java")
  }
]

const storeReport = async ({
  file,
  implementation,
  level,
  start,
  version: implementationVersion
}: Server): Promise<void> => {
  const { clock, keys, stop, url } = await start()
  const out = mkdtempSync(join(tmpdir(), "animal-store-report-"))
  const [MAIN = "", TINY = "", VICTIM = ""] = keys
  try {
    const run = spawn(
      process.execPath,
      [
        main,
        ...["conformance", "run", "--url", url, "--clock", clock, "--level", level, "--out", out],
        ...["--key", "env:MAIN", "--tiny", `env:TINY:${plans[1]}`, "--victim", `env:VICTIM:${plans[2]}`],
        ...["--implementation", implementation, "--implementation-version", implementationVersion]
      ],
      { stdio: "inherit", env: { ...process.env, MAIN, TINY, VICTIM } }
    )
    await once(run, "exit")
    const name = `${file}.json`
    ImplementationsPage.parseSubmission(name, readFileSync(join(out, "report.json"), "utf8"))
    copyFileSync(join(out, "report.json"), new URL(name, ImplementationsPage.directory))
  } finally {
    stop()
    rmSync(out, { recursive: true, force: true })
  }
}

const names = process.argv.slice(2)
for (const server of servers) if (names.length === 0 || names.includes(server.file)) await storeReport(server)
