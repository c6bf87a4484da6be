/** Runs `export`, `import` and `copy` in separate processes, and reads their databases. */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { onTestFinished } from "vitest"
import * as PetJson from "../../core/codec/PetJson.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { Database } from "../sql/Databases.fixture.ts"
import { openClient } from "../sql/Nodes.fixture.ts"
import * as SqlTable from "../sql/SqlTable.ts"
import * as Load from "./Load.fixture.ts"

const main = fileURLToPath(new URL("./main.ts", import.meta.url))

/** Maximum lifetime of a process in milliseconds, so that no process outlives a failed test. */
const LIFETIME_MS = 60_000

/** The result of a process. */
export interface ProcessResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<ProcessResult>
}

/** Starts a command with `nodeFlags` for Node. Standard input is empty by default. */
export const launch = (
  args: ReadonlyArray<string>,
  input: string | Uint8Array = "",
  nodeFlags: ReadonlyArray<string> = []
): Running => {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_"))
    ),
    stdio: ["pipe", "pipe", "pipe"],
    timeout: LIFETIME_MS,
    killSignal: "SIGKILL"
  })
  // A command that exits early does not read its input; writing to it then fails.
  child.stdin.on("error", () => undefined).end(input)
  const exit = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("close", (code, signal) => resolve([code, signal]))
  )
  const ended = Promise.all([exit, text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]) => ({ code, signal, stdout, stderr })
  )
  return { child, ended }
}

/** Runs a command until it exits. */
export const run = (args: ReadonlyArray<string>, input?: string | Uint8Array): Promise<ProcessResult> =>
  launch(args, input).ended

/** Creates a directory that is deleted after the current test. */
export const createDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-transfer-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Returns animals with hostile names as JSON Lines; all ids and all `categoryId`s differ. */
export const makeLines = (count: number, seed = 1): string => {
  const next = Load.makeAnimals(seed)
  return Array.from(
    { length: count },
    (_, index) => `${PetJson.encode(new Pet(BigInt(index * 3 + 1), next()))}\n`
  ).join("")
}

/** Runs an effect with a client of the database. */
export const withClient = <A, E>(
  database: Database,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(openClient(database), use)))

/** Returns the first value of the first row; `undefined` if there is no row or no such table yet. */
export const valueOf = (database: Database, statement: string): Promise<SqlTable.Value | undefined> =>
  withClient(database, (sql) =>
    SqlTable.values(sql, statement).pipe(
      Effect.map(([row]) => row?.[0]),
      Effect.orElseSucceed(() => undefined)
    )
  )

/** Kills a command `delayMs` milliseconds after the value of `statement` changes, unless the command exits first. */
export const killAfterProgress = async (
  { child, ended }: Running,
  database: Database,
  statement: string,
  delayMs: number
): Promise<"killed" | ProcessResult> => {
  const before = await valueOf(database, statement)
  let earlyResult: ProcessResult | undefined
  void ended.then((result) => {
    earlyResult = result
  })
  while (earlyResult === undefined && (await valueOf(database, statement)) === before) await sleep(5)
  await sleep(delayMs)
  child.kill("SIGKILL")
  const result = await ended
  return result.signal === "SIGKILL" ? "killed" : result
}
