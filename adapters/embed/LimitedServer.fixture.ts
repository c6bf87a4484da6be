/** Starts servers whose disk becomes full, and checks how they fail and recover. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished } from "vitest"
import { Caller, expectUnavailable, isServed, type Outcome } from "./FaultCaller.fixture.ts"

const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url))

/** Starts a server in its own process, through a shell command that sets resource limits. */
export const serve = async (wrapper: ReadonlyArray<string>, prepare: string, filename: string) => {
  const [command = "sh", ...rest] = [...wrapper, "sh", "-c", `${prepare} && exec "$0" "$@"`]
  const child = spawn(
    command,
    [
      ...[...rest, process.execPath, main, "serve", "--json", "--port", "0"],
      ...["--database", `sqlite:${filename}`, "--issue-key", "Enterprise:perMinute=1000000,perDay=1000000"],
      // The log shares the disk, and a line at startup would allocate a block with room for later lines.
      ...["--log-level", "warn", "--database-timeout", "500ms", "--drain", "0s"]
    ],
    { stdio: ["ignore", "pipe", "ignore"] }
  )
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const [line]: Array<Buffer> = await Promise.race([
    once(child.stdout, "data"),
    ended.then(() => Promise.reject(new Error("exited early")))
  ])
  const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(String(line))
  const caller = new Caller((target, init) => fetch(new URL(target, url), init), keys[0]?.key ?? "")
  return { caller, ended, pid: child.pid ?? 0, stop: () => child.kill("SIGTERM") }
}

/** Fills the disk: sends creations until three single creations in a row fail. Returns all failures. */
const fillDisk = async (caller: Caller): Promise<ReadonlyArray<Outcome>> => {
  const rejected: Array<Outcome> = []
  let count = 100
  let failures = 0
  while (failures < 3) {
    const failed = (await caller.creates(count)).filter((outcome) => !isServed(outcome))
    rejected.push(...failed)
    if (failed.length > 0) count = 1
    failures = count === 1 && failed.length > 0 ? failures + 1 : 0
  }
  return rejected
}

/** Expects that logging works again and first reports the number of lost lines. */
const expectLogRecovery = async (caller: Caller, directory: string): Promise<void> => {
  const database = path.join(directory, "test.db")
  fs.renameSync(database, `${database}.moved`)
  expectUnavailable(await caller.creates(1))
  fs.renameSync(`${database}.moved`, database)
  await caller.recover()
  expect(fs.readFileSync(path.join(directory, "log"), "utf8")).toMatch(
    /\n\S+ level=WARN message="log lines lost: [1-9][0-9,]*"\n.* message="503 service_unavailable/
  )
}

/**
 * Fills the disk of a server and expects 503 responses; `free` then makes space, and the server must recover. The
 * database and the log are in `directory`.
 */
export const expectRecovery = async (
  { caller, ended, stop }: Awaited<ReturnType<typeof serve>>,
  directory: string,
  free: () => void
): Promise<void> => {
  const rejected = await fillDisk(caller)
  expectUnavailable(rejected)
  await caller.expectLive()
  // The probe of readiness writes less than a creation, so it may succeed until more creations were tried.
  const others: Array<Outcome> = []
  await caller.waitForReadiness(503, async () => void others.push(...(await caller.creates(1))))
  expectUnavailable(others)
  const alsoRejected = [...others, ...(await caller.creates(8))]
  expectUnavailable(alsoRejected)
  free()
  await caller.recoverFully()
  await caller.checkStored([...rejected, ...alsoRejected])
  await expectLogRecovery(caller, directory)
  stop()
  expect(await ended).toEqual([0, null])
}

/** Returns whether a command exists and succeeds. */
export const succeeds = (command: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0
