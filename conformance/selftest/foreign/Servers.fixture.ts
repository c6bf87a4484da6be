/** Starts our server and one in Python, and runs the suite on them. */
import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Whether Python is installed on this machine. */
export const isInstalled = (): boolean => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const main = file("../../../adapters/cli/main.ts")

/** The plans of the keys for a run with a clock. */
const plans = { main: "100000:10000000", tiny: "5:40", victim: "3:10000" }

/** The small plan for a run without a clock, which cannot wait for the next day. */
const TINY_WITHOUT_CLOCK = "5:1000"

/** A running server and its keys. */
export interface Server {
  readonly url: string
  /** The address of its clock; absent for a run without a clock. */
  readonly clock?: string
  readonly keys: ReadonlyArray<string>
  readonly stop: () => void
}

/** Starts a server in another process; the first line that it prints is JSON. */
const start = async (command: string, args: ReadonlyArray<string>) => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk
  })
  const exited = once(child, "exit").then(() => Promise.reject(new Error(`${command} exited: ${log}`)))
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), exited])
  exited.catch(() => undefined)
  return { greeting: JSON.parse(String(line)), log: () => log, stop: () => child.kill("SIGKILL") }
}

/** Starts the server in Python. */
export const startForeign = async (): Promise<Server> => {
  const keys = ["main", "tiny", "victim"].map((role) => `${role}-key-of-the-run`)
  const limits = Object.values(plans)
  const { greeting, stop } = await start("python3", [
    ...[file("server.py"), "--port", "0", "--test-clock-port", "0"],
    ...keys.flatMap((key, index) => ["--key", `${key}:${limits[index]}`])
  ])
  return { url: greeting.url, clock: greeting.clock, keys, stop }
}

/** Starts this project's own server, with a test clock or without one. */
export const startOwn = async ({ hasClock }: { readonly hasClock: boolean }): Promise<Server> => {
  const limits = Object.values(hasClock ? plans : { ...plans, tiny: TINY_WITHOUT_CLOCK })
  const { greeting, log, stop } = await start(process.execPath, [
    ...[main, "serve", "--json", "--port", "0", "--database", "memory:"],
    ...(hasClock ? ["--test-clock-port", "0"] : []),
    ...limits.flatMap((plan) => {
      const [perMinute, perDay] = plan.split(":")
      return ["--issue-key", `enterprise:perMinute=${perMinute},perDay=${perDay}`]
    })
  ])
  const issued: ReadonlyArray<{ readonly key: string }> = greeting.keys
  const [clock] = /http:\S+\/clock/.exec(log()) ?? []
  return {
    url: greeting.url,
    ...(clock === undefined ? {} : { clock }),
    keys: issued.map(({ key }) => key),
    stop
  }
}

export interface Verdict {
  readonly code: number
  /** Everything that the run printed. */
  readonly output: string
}

/** Runs the suite on a server, in another process, and stops the server. */
export const testServer = async (
  { clock, keys: [MAIN = "", TINY = "", VICTIM = ""], stop, url }: Server,
  flags: ReadonlyArray<string>
): Promise<Verdict> => {
  const tiny = clock === undefined ? TINY_WITHOUT_CLOCK : plans.tiny
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        [
          ...[main, "conformance", "run", "--url", url, "--key", "env:MAIN"],
          ...(clock === undefined ? [] : ["--clock", clock]),
          ...["--tiny", `env:TINY:${tiny}`, "--victim", `env:VICTIM:${plans.victim}`],
          ...flags
        ],
        {
          env: { PATH: process.env.PATH ?? "", NO_COLOR: "1", MAIN, TINY, VICTIM },
          maxBuffer: 64_000_000
        },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1
          resolve({ code, output: stdout + stderr })
        }
      )
    })
  } finally {
    stop()
  }
}
