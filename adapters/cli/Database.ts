/** Opens the database of a command, and describes it in messages. */
import { existsSync, statSync } from "node:fs"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as DatabaseAddress from "../embed/DatabaseAddress.ts"
import { type AnimalStore, type AnimalStoreOptions, openAnimalStore } from "../embed/index.ts"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"
import * as Invocation from "./Invocation.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"
import { DEFAULT_DATABASE } from "./StoreFlags.ts"

/** Opens the store, and closes it when the scope closes. Opening can be interrupted. */
export const open = (
  options: AnimalStoreOptions
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.flatMap(Host, ({ log }) =>
    Effect.acquireRelease(
      // By default only warnings are logged; commands print their results to standard output.
      Failure.attempt(
        (signal) => openAnimalStore({ logLevel: "warn", log, ...options, signal }),
        (cause) => Failure.userError(Failure.ofEither(cause, options.limits))
      ),
      (store) => Effect.promise(() => store.close()),
      { interruptible: true }
    )
  )

/** Opens an existing store; fails if one of its SQLite files does not exist. */
export const openExisting = (
  options: AnimalStoreOptions & { readonly database: string }
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* requireAllExisting(options.database, options.limits)
    return yield* open(options)
  })

/** Fails if a SQLite file of a store does not exist. */
export const requireAllExisting = (
  database: string,
  limits: string | undefined
): Effect.Effect<void, CliError.UserError> =>
  Effect.andThen(
    requireExisting(database, "database"),
    limits === undefined ? Effect.void : requireExisting(limits, "limits")
  )

/** Fails if the SQLite file of an address does not exist. The error names `flag`, the source of the address. */
export const requireExisting = (address: string, flag: string): Effect.Effect<void, CliError.UserError> => {
  const filename = filenameOf(address)
  return filename === undefined || existsSync(filename)
    ? Effect.void
    : Effect.fail(
        Failure.userError(
          new Error(`${Setting.title(flag)}: there is no database at ${printable(filename)}; ${REMEDY}`)
        )
      )
}

const REMEDY = "pass the address that the server uses, or create one with 'animal-store serve'"

const filenameOf = (address: string): string | undefined => {
  const parsed = Option.getOrUndefined(Result.getSuccess(DatabaseAddress.parse(address)))
  return parsed?.kind === "sqlite" ? parsed.filename : undefined
}

/** Whether `file` is the SQLite file of an address, also under another name, or one of the files next to it. */
export const isFileOf = (address: string, file: string): boolean => {
  const filename = filenameOf(address)
  const identity = identityOf(file)
  if (filename === undefined || identity === undefined) return false
  return ["", "-wal", "-shm"].some((suffix) => identityOf(`${filename}${suffix}`) === identity)
}

/** Identifies the file at a path or behind a link; `undefined` if there is none. */
const identityOf = (file: string): string | undefined => {
  try {
    const { dev, ino } = statSync(file)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Returns the database address for messages; omits credentials and parameters of a PostgreSQL URL. */
export const locationOf = (address: string): string => {
  if (!address.startsWith("postgres") || !URL.canParse(address)) return printable(address)
  const { host, pathname, protocol } = new URL(address)
  return printable(`${protocol}//${host}${pathname}`)
}

/** Returns a hint about how to issue a key in the database. */
export const issueHint = (address: string): Effect.Effect<string> =>
  Effect.map(Host, ({ start }) => {
    if (address === "memory:") {
      return "To issue a key, start with --issue-key Free: no other process can reach a database in memory"
    }
    const command = Invocation.commandLine(start, ["keys", "issue", "--plan", "Free"])
    return address === DEFAULT_DATABASE
      ? `To issue a key: ${command}`
      : `To issue a key (use the same --database): ${command}`
  })
