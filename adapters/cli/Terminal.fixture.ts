/** Runs commands on a pseudo-terminal with `script` of util-linux. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import * as Capture from "./Capture.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import { environment, main, serverDefaults } from "./Serve.fixture.ts"

/** Why this machine cannot run commands on a pseudo-terminal, or `undefined` if it can. */
export const missing: string | undefined =
  spawnSync("script", ["--version"]).error === undefined ? undefined : "script is not installed"

const quote = (argument: string): string => `'${argument.replaceAll("'", "'\\''")}'`

interface Launched {
  /** Exits with the exit code of the command. */
  readonly child: ChildProcess
  /** All that the command prints on the terminal. */
  readonly output: Capture.Capture
  /** Presses Ctrl-C: the terminal sends SIGINT to all processes of the command. */
  readonly pressCtrlC: () => void
}

/** Starts `animal-store` on a pseudo-terminal; it is killed after the test. */
export const launch = (args: ReadonlyArray<string>): Launched => {
  // Without "exec" some shells stay the parent, and end with 130 at Ctrl-C whatever the command does.
  const command = `exec ${[process.execPath, main, ...args].map(quote).join(" ")}`
  const child = spawn("script", ["-qec", command, path.join(Directory.create(), "typescript")], {
    env: { ...environment, ...serverDefaults },
    stdio: ["pipe", "pipe", "ignore"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  // The terminal may be gone when a test presses the keys again.
  child.stdin.on("error", () => undefined)
  return { child, output: Capture.ofStream(child.stdout), pressCtrlC: () => void child.stdin.write("\x03") }
}
