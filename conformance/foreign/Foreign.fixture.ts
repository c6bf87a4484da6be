/** Starts servers in other languages, with their legal variations, in child processes, and runs the suite on them. */
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

const withoutVariation: Variation = { name: "", differs: "The server as it is." }

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
    vary("bans-at-once", "The second early retry bans the key for 45 s: §8.4.3 gives no number."),
    vary("catalogue-per-key", "Each key has its own catalogue: §5 does not say who sees which animals."),
    vary("chunked", "Bodies are sent in chunks of 7 bytes: §1 asks for JSON, not for a length."),
    vary("clamped-limit", "A limit out of range is clamped: §4.1 lists no 400."),
    vary("close", "Each response closes its connection: the contract does not mention connections."),
    vary(
      "cursors",
      "Links lead to later pages, with cursors of +, /, =, % and spaces: §4.1 shows no paging."
    ),
    vary("date-of-machine", "Date is the machine's time, not the clock's: the contract does not name Date."),
    vary("day-shown", "The headers always show the day: §8.3 does not choose the window."),
    vary("extra-members", "Animals and errors have more members, some nested: §2 does not forbid them."),
    vary("fixed-windows", "Minutes and days are the clock's, in UTC: §8.2 names no algorithm."),
    vary("french", "Messages are in French, and codes are numbered: §7 does not show the codes."),
    vary("header-case", "Header names have another letter case: §8.3 relies on HTTP, which ignores case."),
    vary("ipv6", "The server listens on [::1]: §4 leaves the base address open."),
    vary("newest-first", "Lists begin with the newest animal: §4.1 states no order."),
    vary("no-bans", "No key is ever banned: §8.4.3 says that a ban can follow.", "--no-bans"),
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

const keys = { MAIN: "main-key-of-the-run", TINY: "tiny-key-of-the-run", VICTIM: "victim-key-of-the-run" }
const plans = { tiny: "5:40", victim: "3:10000" }
const main = file("../../adapters/cli/main.ts")

export interface Verdict {
  readonly code: number
  /** The last line, such as `CONFORMANT at level spec…`. */
  readonly verdict: string
  /** Everything that the run printed. */
  readonly output: string
}

/** Starts the server, runs the suite on it at level spec with a clock, and stops the server. */
export const run = async (
  { args, command }: Language,
  { declared = [], name }: Variation,
  seed?: number
): Promise<Verdict> => {
  const child = spawn(
    command,
    [
      ...args,
      ...["--port", "0", "--test-clock-port", "0", ...(name === "" ? [] : ["--vary", name])],
      ...["--key", `${keys.MAIN}:100000:10000000`],
      ...["--key", `${keys.TINY}:${plans.tiny}`, "--key", `${keys.VICTIM}:${plans.victim}`]
    ],
    { stdio: ["ignore", "pipe", "inherit"] }
  )
  try {
    const exited = once(child, "exit").then(() => Promise.reject(new Error(`${command} exited`)))
    const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), exited])
    exited.catch(() => undefined)
    const { clock, url }: { readonly clock: string; readonly url: string } = JSON.parse(String(line))
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        [
          ...[main, "conformance", "run", "--url", url, "--clock", clock, "--key", "env:MAIN"],
          ...["--tiny", `env:TINY:${plans.tiny}`, "--victim", `env:VICTIM:${plans.victim}`],
          ...(seed === undefined ? [] : ["--seed", String(seed)]),
          ...declared
        ],
        { env: { PATH: process.env.PATH ?? "", NO_COLOR: "1", ...keys }, maxBuffer: 64_000_000 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1
          resolve({ code, verdict: stdout.trimEnd().split("\n").at(-1) ?? "", output: stdout + stderr })
        }
      )
    })
  } finally {
    child.kill("SIGKILL")
  }
}
