/** Runs an `animal-store` command until it exits or times out, and watches its memory. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export interface Run {
  /** The exit code; `null` if the command was killed after the timeout. */
  readonly code: number | null
  /** Peak resident set size in bytes; 0 if it cannot be read on this machine. */
  readonly peakRss: number
}

/** Timeout of a command in milliseconds. */
export const TIMEOUT_MS = 300_000

const command = fileURLToPath(new URL("./main.ts", import.meta.url))
const SAMPLE_INTERVAL_MS = 50
const PAGE_BYTES = 4_096

export const run = (args: ReadonlyArray<string>): Promise<Run> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [command, ...args], {
      stdio: "ignore",
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL"
    })
    let peakRss = 0
    const timer = setInterval(() => {
      peakRss = Math.max(peakRss, rssOf(child.pid))
    }, SAMPLE_INTERVAL_MS)
    child.once("exit", (code) => {
      clearInterval(timer)
      resolve({ code, peakRss })
    })
  })

const rssOf = (pid: number | undefined): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}
