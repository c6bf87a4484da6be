/** Runs commands on a pseudo-terminal with `script` of util-linux. */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { text } from "node:stream/consumers"
import { onTestFinished } from "vitest"
import { main } from "./Serve.fixture.ts"

/** Why this machine cannot run commands on a pseudo-terminal, or `undefined` if it can. */
export const missing: string | undefined =
  spawnSync("script", ["--version"]).error === undefined ? undefined : "script is not installed"

/** Maximum lifetime of a command in milliseconds. */
const LIFETIME_MS = 50_000

const quote = (argument: string): string => `'${argument.replaceAll("'", "'\\''")}'`

/** Runs `animal-store` on a pseudo-terminal, and returns all that it prints there. */
export const run = async (args: ReadonlyArray<string>): Promise<string> => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-terminal-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  const command = [process.execPath, main, ...args].map(quote).join(" ")
  const child = spawn("script", ["-qec", command, path.join(directory, "typescript")], {
    stdio: ["ignore", "pipe", "ignore"],
    timeout: LIFETIME_MS,
    killSignal: "SIGKILL"
  })
  return text(child.stdout)
}
