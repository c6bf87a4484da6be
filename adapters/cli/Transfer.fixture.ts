/** Makes animals as JSON Lines, reads databases, and kills commands while they write to one. */
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { expect } from "vitest"
import * as PetJson from "../../core/codec/PetJson.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { Database } from "../sql/Databases.fixture.ts"
import { openClient } from "../sql/Nodes.fixture.ts"
import * as SqlTable from "../sql/SqlTable.ts"
import * as CommandLine from "./CommandLine.fixture.ts"
import * as Load from "./Load.fixture.ts"
import type { Launched, ProcessResult } from "./Serve.fixture.ts"

/** Returns animals with hostile names as JSON Lines; all ids and all `categoryId`s differ. */
export const makeLines = (count: number, seed = 1): string => {
  const next = Load.makeAnimals(seed)
  return Array.from(
    { length: count },
    (_, index) => `${PetJson.encode(new Pet(BigInt(index * 3 + 1), next()))}\n`
  ).join("")
}

/** Removes the ids from lines. */
export const withoutIds = (lines: string): string => lines.replaceAll(/^\{"id":\d+,/gm, "{")

/** Stores `count` animals in a database, with their ids. */
export const fill = async ({ address }: Database, count: number): Promise<void> => {
  await CommandLine.json(
    ["import", "-", "--keep-ids", "--database", address],
    {},
    { input: makeLines(count) }
  )
}

/** Exports all animals of a database. */
export const exportFrom = async ({ address }: Database): Promise<string> => {
  const { code, stderr, stdout } = await CommandLine.run(["export", "--database", address])
  expect(stderr).toMatch(/^Exported [\d,]+ animals? in [\d.]+ s \([\d,]+ a second\)\.\n$/)
  expect(code).toBe(0)
  return stdout
}

/** Runs an effect with a client of the database. */
const withClient = <A, E>(
  database: Database,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(openClient(database), use)))

/** Returns the first value of the first row; `undefined` if there is no row or no such table yet. */
export const valueOf = (database: Database, statement: string): Promise<unknown> =>
  withClient(database, (sql) =>
    SqlTable.query(sql, statement).pipe(
      Effect.map(([row]) => row?.[0]),
      Effect.orElseSucceed(() => undefined)
    )
  )

/** Waits until a statement returns a row. */
export const waitForValue = async (database: Database, statement: string): Promise<void> => {
  while ((await valueOf(database, statement)) === undefined) await sleep(20)
}

/** Kills a command `delayMs` milliseconds after the value of `statement` changes, unless the command exits first. */
export const killAfterProgress = async (
  { child, ended }: Launched,
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
