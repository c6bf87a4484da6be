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

/** Starts `animal-store` on a pseudo-terminal; it is killed after the test. `output` is all that it prints there. */
export const launch = (
  args: ReadonlyArray<string>
): { readonly child: ChildProcess; readonly output: Capture.Capture } => {
  const command = [process.execPath, main, ...args].map(quote).join(" ")
  const child = spawn("script", ["-qec", command, path.join(Directory.create(), "typescript")], {
    env: { ...environment, ...serverDefaults },
    stdio: ["ignore", "pipe", "ignore"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  return { child, output: Capture.ofStream(child.stdout) }
}
