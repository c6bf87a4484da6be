/** The database of a command: its flags and how to open it. */
import { existsSync } from "node:fs"
import type * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { bounds, defaults } from "../embed/Database.ts"
import { type AnimalStore, type AnimalStoreOptions, openAnimalStore } from "../embed/index.ts"
import * as DurationFlag from "./DurationFlag.ts"
import * as Failure from "./Failure.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"

const DEFAULT = "sqlite:./data/animal-store.db"

/** `--database`. */
export const address = Setting.make(
  Failure.flagOf.database,
  "ADDRESS",
  `Address of the database: sqlite:PATH, postgres://user:password@host:port/database, or memory: (lost when the process ends); default ${DEFAULT}.`,
  Setting.text
).pipe(Flag.withDefault(DEFAULT))

/** `--limits`. */
export const limits = Setting.make(
  Failure.flagOf.limits,
  "ADDRESS",
  "Address of the database for rate limits and bans, as for --database; default: the same database.",
  Setting.text
).pipe(Flag.optional)

/** `--database-timeout`, in milliseconds. */
export const timeoutMs = Setting.make(
  Failure.flagOf.databaseTimeoutMs,
  "DURATION",
  `Timeout of database calls, such as 500ms or 5s; default ${DurationFlag.format(defaults.databaseTimeoutMs)}.`,
  DurationFlag.parse(bounds.databaseTimeoutMs.min, bounds.databaseTimeoutMs.max)
).pipe(Flag.withDefault(defaults.databaseTimeoutMs))

/** `--database-connections`. */
export const connections = Setting.make(
  Failure.flagOf.databaseConnections,
  "N",
  `Maximum number of connections to PostgreSQL; default ${defaults.databaseConnections}.`,
  Setting.between(bounds.databaseConnections.min, bounds.databaseConnections.max)
).pipe(Flag.withDefault(defaults.databaseConnections))

/** `--key-cache`, in milliseconds. */
export const keyCacheMs = Setting.make(
  Failure.flagOf.keyCacheMs,
  "DURATION",
  `Time for which keys are cached, which delays revocations: 0 to ${DurationFlag.format(bounds.keyCacheMs.max)}; default ${DurationFlag.format(defaults.keyCacheMs)}.`,
  DurationFlag.parse(bounds.keyCacheMs.min, bounds.keyCacheMs.max)
).pipe(Flag.withDefault(defaults.keyCacheMs))

/** `--max-anonymous-states`. */
export const maxAnonymousStates = Setting.make(
  Failure.flagOf.maxAnonymousStates,
  "N",
  `Maximum number of client networks whose anonymous requests are counted; default ${defaults.maxAnonymousStates}.`,
  Setting.between(bounds.maxAnonymousStates.min, bounds.maxAnonymousStates.max)
).pipe(Flag.withDefault(defaults.maxAnonymousStates))

/** Opens the store and closes it with the scope. Opening can be interrupted. */
export const open = (
  options: AnimalStoreOptions
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.acquireRelease(
    Failure.attempt((signal) => openAnimalStore({ ...options, signal })),
    (store) => Effect.promise(() => store.close()),
    { interruptible: true }
  )

/** Opens an existing store; fails if its SQLite file does not exist. */
export const openExisting = (
  options: AnimalStoreOptions & { readonly database: string }
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> => {
  const filename = /^sqlite:(.+)$/s.exec(options.database)?.[1]
  return filename === undefined || existsSync(filename)
    ? open(options)
    : Effect.fail(
        Failure.userError(
          new Error(`${Setting.title("database")}: there is no database at ${printable(filename)}`)
        )
      )
}

/** Returns the address of the database without credentials, for messages. */
export const locationOf = (address: string): string => {
  if (!address.startsWith("postgres") || !URL.canParse(address)) return printable(address)
  const { host, pathname, protocol } = new URL(address)
  return printable(`${protocol}//${host}${pathname}`)
}

/** Returns a hint how to issue a key in the database. */
export const issueHint = (address: string): string => {
  const command = "animal-store keys issue --plan Free"
  return address === DEFAULT
    ? `To issue a key: ${command}`
    : `To issue a key, with the same --database: ${command}`
}
