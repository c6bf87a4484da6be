/** The stores in a SQLite file: one machine, any number of processes. */
import * as fs from "node:fs"
import * as path from "node:path"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { DatabaseUnusable, detailOf, explainedBy, fromSqlError } from "./DatabaseUnusable.ts"
import * as Sql from "./Sql.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type { SqlOptions } from "./SqlOptions.ts"

/** What `layer` takes. */
export interface SqliteOptions extends Partial<Omit<SqlOptions, "clock">> {
  /** Path of the file; it is made when it is missing, readable by its owner only, and so is its folder. */
  readonly filename: string
}

/**
 * The stores in a file. Animals and keys are on the disk when they are acknowledged; what requests have used is with
 * the operating system, so that it outlives this process, but not a loss of power.
 */
export const layer = ({
  filename: given,
  ...options
}: SqliteOptions): Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom> => {
  // An absolute path stays when the process changes its folder, and is never taken for a `file:` address.
  const filename = path.resolve(given)
  const client = (synchronous: "FULL" | "NORMAL") =>
    Layer.effect(
      SqlClient.SqlClient,
      Effect.mapError(SqliteClient.make({ filename, synchronous }), fromSqlError)
    ).pipe(Layer.provide(Reactivity.layer))
  return Layer.unwrap(
    Effect.as(
      createFile(filename, given),
      Sql.layer({ ...options, clock: "service" }, client("NORMAL")).pipe(Layer.provide(client("FULL")))
    )
  ).pipe(explainedBy(explain(given)))
}

const createFile = (filename: string, given: string): Effect.Effect<void, DatabaseUnusable> =>
  Effect.try({
    try: () => {
      fs.mkdirSync(path.dirname(filename), { recursive: true, mode: 0o700 })
      const existing = fs.statSync(filename, { throwIfNoEntry: false })
      // Only a new file is opened here. Closing one that a store of this process has open would end the locks of that
      // store, too (they are the process's), and another program could take the log away from under it.
      if (existing === undefined) fs.closeSync(fs.openSync(filename, "a", 0o600))
      else if (existing.isDirectory()) throw Object.assign(new Error("EISDIR"), { code: "EISDIR" })
      else fs.accessSync(filename, fs.constants.R_OK | fs.constants.W_OK)
    },
    catch: (cause) => {
      const fault = Predicate.hasProperty(cause, "code") ? fileFaults.get(cause.code) : undefined
      const detail = cause instanceof Error ? cause.message : String(cause)
      return new DatabaseUnusable({ reason: unusable(given, fault ?? detail), cause })
    }
  })

const explain =
  (filename: string) =>
  (error: SqlError): string => {
    const { cause } = error.reason
    const code = Predicate.hasProperty(cause, "errno") ? Number(cause.errno) & PRIMARY_CODE : undefined
    return unusable(filename, sqliteFaults.get(code) ?? detailOf(error))
  }

const unusable = (filename: string, fault: string): string =>
  `cannot use the SQLite file ${filename}: ${fault}`

const DENIED = "no permission to write to it or its folder"
const FULL = "the disk is full"

/** By the code of Node. */
const fileFaults = new Map<unknown, string>([
  ["EACCES", DENIED],
  ["EPERM", DENIED],
  ["EROFS", "its file system is read-only"],
  ["EISDIR", "it is a folder"],
  ["EEXIST", "a part of its path is no folder"],
  ["ENOTDIR", "a part of its path is no folder"],
  ["ENOSPC", FULL]
])

/** The part of SQLite's extended result codes that tells them in general. */
const PRIMARY_CODE = 0xff

/** By the primary result code of SQLite. */
const sqliteFaults = new Map<unknown, string>([
  [8, DENIED],
  [11, "it is damaged"],
  [13, FULL],
  [14, DENIED],
  [26, "it is no SQLite database"]
])
