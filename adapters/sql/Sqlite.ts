/** Provides the stores in a SQLite file, which any number of processes on one machine can share. */
import * as path from "node:path"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { DatabaseUnusable, detailOf, explainedBy, fromSqlError } from "./DatabaseUnusable.ts"
import * as Migrations from "./Migrations.ts"
import * as Sql from "./Sql.ts"
import * as SqlFailure from "./SqlFailure.ts"
import * as SqliteClient from "./SqliteClient.ts"
import * as SqliteFile from "./SqliteFile.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import type { SqlOptions } from "./SqlOptions.ts"

/** Options of `layer`. */
export interface SqliteOptions extends Partial<Omit<SqlOptions, "clock">> {
  /** Path of the file. A missing file and its directory are created, readable by their owner only. */
  readonly filename: string
}

/**
 * Provides the stores in a file. Animals and keys are on the disk when they are acknowledged. Counted requests are
 * handed to the operating system: they survive a crash of this process, but not a power failure.
 */
export const layer = ({
  filename: given,
  ...options
}: SqliteOptions): Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom> => {
  const filename = resolvePath(given)
  return Layer.unwrap(
    Effect.as(
      Effect.flatMap(prepareFile(filename, given), logCreated),
      Layer.provide(Sql.layer({ ...options, clock: "service" }), provided(SqliteWorkerClient.make(filename)))
    )
  ).pipe(explainedBy(explain(given)))
}

/**
 * Provides a client for a command; see `Sql.opened`. It has no worker thread, because the thread of a command may block.
 * For reading, neither the file nor its directory is changed.
 *
 * @internal
 */
export const client = (
  given: string,
  use: Migrations.Use
): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> => {
  const filename = resolvePath(given)
  if (use === "reading") return Layer.provide(Sql.opened(use), readOnlyClient(filename, given))
  return Layer.unwrap(
    Effect.as(
      prepareFile(filename, given),
      Layer.provide(Sql.opened(use), provided(SqliteClient.make({ filename })))
    )
  ).pipe(explainedBy(explain(given)))
}

// An absolute path stays valid if the working directory changes, and SQLite never reads it as a `file:` address.
const resolvePath = (filename: string): string => path.resolve(filename)

const readOnlyClient = (
  filename: string,
  given: string
): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> =>
  Layer.unwrap(
    Effect.try({
      try: () => provided(SqliteClient.make({ filename, readonly: true, ...SqliteFile.inspect(filename) })),
      catch: (cause) =>
        new DatabaseUnusable({
          reason: unusable(given, SqliteFile.reasonOf(cause, SqliteFile.UNREADABLE)),
          cause
        })
    })
  ).pipe(explainedBy(explain(given, unreadableReasons)))

const provided = (
  client: Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity>
): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> =>
  Layer.provide(Layer.effect(SqlClient.SqlClient, Effect.mapError(client, fromSqlError)), Reactivity.layer)

/** Creates a missing file and returns its new directories; fails before anything is written if the file belongs to another program. */
const prepareFile = Effect.fnUntraced(function* (
  filename: string,
  given: string
): Effect.fn.Return<ReadonlyArray<string>, DatabaseUnusable> {
  const created = yield* Effect.try({
    try: () => SqliteFile.create(filename),
    catch: (cause) => new DatabaseUnusable({ reason: unusable(given, SqliteFile.reasonOf(cause)), cause })
  })
  const foreign = yield* Migrations.findForeign(Migrations.isNotInternal).pipe(
    Effect.provide(readOnlyClient(filename, given)),
    // A file that cannot be read so may still be recovered; otherwise, opening it for writing reports why.
    Effect.orElseSucceed(() => undefined)
  )
  yield* Migrations.rejectForeign(foreign)
  return created
})

/** Logs a new directory, because an address with a mistake creates an empty database in a new place. */
const logCreated = (directories: ReadonlyArray<string>): Effect.Effect<void> => {
  const directory = directories.at(-1)
  return directory === undefined
    ? Effect.void
    : Effect.annotateLogs(Effect.logInfo("directory created"), { directory })
}

const explain =
  (filename: string, reasons: ReadonlyMap<unknown, string> = sqliteReasons) =>
  (error: SqlError): string => {
    const { cause } = error.reason
    const code = Predicate.hasProperty(cause, "errno")
      ? Number(cause.errno) & SqlFailure.PRIMARY_CODE
      : undefined
    return unusable(filename, reasons.get(code) ?? detailOf(error))
  }

const unusable = (filename: string, reason: string): string =>
  `cannot use the SQLite file ${filename}: ${reason}`

/** Explanations by the primary result code of SQLite. */
const sqliteReasons = new Map<unknown, string>([
  [8, SqliteFile.DENIED],
  [11, "it is damaged"],
  [13, SqliteFile.FULL],
  [14, SqliteFile.DENIED],
  [26, "it is not a SQLite database"]
])

/** Explanations for a file that is only read. */
const unreadableReasons = new Map<unknown, string>([
  ...sqliteReasons,
  // SQLite would have to roll back a journal or to create a file.
  [8, SqliteFile.UNRECOVERED],
  [14, SqliteFile.UNREADABLE]
])
