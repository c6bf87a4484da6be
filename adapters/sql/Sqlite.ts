/** The stores in a SQLite file: one machine, any number of processes. */
import * as fs from "node:fs"
import * as path from "node:path"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { DatabaseUnusable, fromSqlError } from "./DatabaseUnusable.ts"
import * as Sql from "./Sql.ts"
import * as SqliteClient from "./SqliteClient.ts"

/** What `layer` takes. */
export interface SqliteOptions extends Partial<Omit<Sql.SqlOptions, "clock">> {
  /** The file; it is made when it is missing, readable by its owner only, and so is its folder. */
  readonly filename: string
}

/**
 * The stores in a file. Animals and keys are on the disk when they are acknowledged; what requests have used is with
 * the operating system, so that it outlives this process, but not a loss of power.
 */
export const layer = ({
  filename,
  ...options
}: SqliteOptions): Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom> => {
  const client = (synchronous: "FULL" | "NORMAL") =>
    Layer.effect(
      SqlClient.SqlClient,
      Effect.mapError(SqliteClient.make({ filename, synchronous }), fromSqlError)
    ).pipe(Layer.provide(Reactivity.layer))
  return Layer.unwrap(
    Effect.as(
      createFile(filename),
      Sql.layer({ ...options, clock: "service" }, client("NORMAL")).pipe(Layer.provide(client("FULL")))
    )
  )
}

const createFile = (filename: string): Effect.Effect<void, DatabaseUnusable> =>
  Effect.try({
    try: () => {
      fs.mkdirSync(path.dirname(filename), { recursive: true, mode: 0o700 })
      fs.closeSync(fs.openSync(filename, "a", 0o600))
    },
    catch: (cause) =>
      new DatabaseUnusable({ reason: cause instanceof Error ? cause.message : String(cause), cause })
  })
