/** The stores in a SQLite file: one machine, any number of processes. */
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
import * as SqliteFile from "./SqliteFile.ts"
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
    try: () => SqliteFile.create(filename),
    catch: (cause) => new DatabaseUnusable({ reason: unusable(given, SqliteFile.faultOf(cause)), cause })
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

/** The part of SQLite's extended result codes that tells them in general. */
const PRIMARY_CODE = 0xff

/** By the primary result code of SQLite. */
const sqliteFaults = new Map<unknown, string>([
  [8, SqliteFile.DENIED],
  [11, "it is damaged"],
  [13, SqliteFile.FULL],
  [14, SqliteFile.DENIED],
  [26, "it is no SQLite database"]
])
