/** The database of a command: its flags, and how it is opened. */
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
  `Where everything is kept: sqlite:PATH, postgres://user:password@host:port/database, or memory: until the process ends; default ${DEFAULT}.`,
  Setting.text
).pipe(Flag.withDefault(DEFAULT))

/** `--database-timeout`, in milliseconds. */
export const timeoutMs = Setting.make(
  Failure.flagOf.databaseTimeoutMs,
  "DURATION",
  `How long the database may take to answer, such as 500ms or 5s; default ${DurationFlag.format(defaults.databaseTimeoutMs)}.`,
  DurationFlag.parse(bounds.databaseTimeoutMs.min, bounds.databaseTimeoutMs.max)
).pipe(Flag.withDefault(defaults.databaseTimeoutMs))

/** `--database-connections`. */
export const connections = Setting.make(
  Failure.flagOf.databaseConnections,
  "N",
  `Most connections to PostgreSQL; default ${defaults.databaseConnections}.`,
  Setting.between(bounds.databaseConnections.min, bounds.databaseConnections.max)
).pipe(Flag.withDefault(defaults.databaseConnections))

/** `--key-cache`, in milliseconds. */
export const keyCacheMs = Setting.make(
  Failure.flagOf.keyCacheMs,
  "DURATION",
  `How long a key that was looked up is kept, and so a revocation may take: 0 to ${DurationFlag.format(bounds.keyCacheMs.max)}; default ${DurationFlag.format(defaults.keyCacheMs)}.`,
  DurationFlag.parse(bounds.keyCacheMs.min, bounds.keyCacheMs.max)
).pipe(Flag.withDefault(defaults.keyCacheMs))

/** `--max-anonymous-states`. */
export const maxAnonymousStates = Setting.make(
  Failure.flagOf.maxAnonymousStates,
  "N",
  `Most client networks without a valid key that are counted at a time; default ${defaults.maxAnonymousStates}.`,
  Setting.between(bounds.maxAnonymousStates.min, bounds.maxAnonymousStates.max)
).pipe(Flag.withDefault(defaults.maxAnonymousStates))

/** Opens the store, which is closed with the scope. A signal to the process ends the opening. */
export const open = (
  options: AnimalStoreOptions
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.acquireRelease(
    Failure.attempt((signal) => openAnimalStore({ ...options, signal })),
    (store) => Effect.promise(() => store.close()),
    { interruptible: true }
  )

/** Opens a store to look into or to change: one in a file that is not there has nothing of the kind. */
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

/** Where the database is, for people: the address, without what may hold a password. */
export const placeOf = (address: string): string => {
  if (!address.startsWith("postgres") || !URL.canParse(address)) return printable(address)
  const { host, pathname, protocol } = new URL(address)
  return printable(`${protocol}//${host}${pathname}`)
}

/** How to make a key there. */
export const howToIssue = (address: string): string => {
  const command = "animal-store keys issue --plan Free"
  return address === DEFAULT
    ? `To make a key: ${command}`
    : `To make a key, with the same --database: ${command}`
}
