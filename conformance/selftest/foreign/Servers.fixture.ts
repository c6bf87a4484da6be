/** Starts our server and servers in other languages, with their legal variations, and runs the suite on them. */
import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** A choice that a server makes where the contract leaves a point open. */
export interface Variation {
  /** The value of `--vary`; empty for the server without variation. */
  readonly name: string
  /** How the server differs, and the section of the contract that leaves the point open. */
  readonly differs: string
  /** Flags of the suite that declare the choice. */
  readonly declared?: ReadonlyArray<string>
}

export interface Language {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly variations: ReadonlyArray<Variation>
}

const withoutVariation: Variation = { name: "", differs: "The server without variations." }

const vary = (name: string, differs: string, ...declared: ReadonlyArray<string>): Variation => ({
  name,
  differs,
  declared
})

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

export const python: Language = {
  command: "python3",
  args: [file("server.py")],
  variations: [withoutVariation]
}

export const java: Language = {
  command: "java",
  args: ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", file("Server.java")],
  variations: [
    withoutVariation,
    vary("bans-at-once", "The second early retry bans the key for 45 s: §8.4.3 specifies no numbers."),
    vary(
      "catalogue-per-key",
      "Each key has its own catalogue: §5 does not specify which animals a key can see."
    ),
    vary("chunked", "Bodies are sent in chunks of 7 bytes: §1 requires JSON, not a Content-Length."),
    vary("clamped-limit", "A limit out of range is clamped: §4.1 lists no 400."),
    vary("close", "Each response closes its connection: the contract does not mention connections."),
    vary(
      "cursors",
      "Links lead to later pages, with cursors of +, /, =, % and spaces: §4.1 shows no paging."
    ),
    vary(
      "date-of-machine",
      "Date shows the machine's time instead of the test clock's: the contract does not name Date."
    ),
    vary("day-shown", "The headers always show the daily limit: §8.3 does not specify the window."),
    vary("extra-members", "Animals and errors have more members, some nested: §2 does not forbid them."),
    vary("fixed-windows", "Windows are calendar minutes and days in UTC: §8.2 specifies no algorithm."),
    vary("french", "Messages are in French, and codes are numbered: §7 does not show the codes."),
    vary("header-case", "Header names have another letter case: §8.3 relies on HTTP, which ignores case."),
    vary("ipv6", "The server listens on [::1]: §4 leaves the base address open."),
    vary("newest-first", "Lists begin with the newest animal: §4.1 states no order."),
    vary("no-bans", "No key is ever banned: §8.4.3 permits bans but does not require them.", "--no-bans"),
    vary("no-date", "There is no Date header: the contract does not name it."),
    vary("retry-date", "Retry-After is a date: §8.4 does not show its unit."),
    vary("status-changes", "A pending animal is sold after a day: §3 shows no transitions."),
    vary("strangers-not-counted", "Callers without a key have no limit: §8.2 has no plan for them."),
    vary("strict", "Unknown fields and parameters are rejected with 400: §2 and §4.1 do not mention them."),
    vary("unknown-path-first", "An unknown path returns 404 without a key: §5.2 covers operations.")
  ]
}

/** Whether the program of the language is installed on this machine. */
export const isInstalled = ({ command }: Language): boolean => {
  try {
    execFileSync(command, [command === "java" ? "-version" : "--version"], { stdio: "ignore" })
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

const startForeign = async ({ args, command }: Language, { name }: Variation): Promise<Server> => {
  const keys = ["main", "tiny", "victim"].map((role) => `${role}-key-of-the-run`)
  const limits = Object.values(plans)
  const { greeting, stop } = await start(command, [
    ...args,
    ...["--port", "0", "--test-clock-port", "0", ...(name === "" ? [] : ["--vary", name])],
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
  /** The last line, such as `CONFORMANT at level spec…`. */
  readonly verdict: string
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
          resolve({ code, verdict: stdout.trimEnd().split("\n").at(-1) ?? "", output: stdout + stderr })
        }
      )
    })
  } finally {
    stop()
  }
}

/** Starts a server in another language, and runs the suite on it. */
export const testForeign = async (
  language: Language,
  variation: Variation,
  flags: ReadonlyArray<string> = []
): Promise<Verdict> =>
  testServer(await startForeign(language, variation), [...(variation.declared ?? []), ...flags])
