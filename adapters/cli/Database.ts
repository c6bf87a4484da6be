/** Defines the database flags of a command, and opens the database. */
import { existsSync } from "node:fs"
import type * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { bounds, defaults } from "../embed/Database.ts"
import * as DatabaseAddress from "../embed/DatabaseAddress.ts"
import { type AnimalStore, type AnimalStoreOptions, openAnimalStore } from "../embed/index.ts"
import * as DurationFlag from "./DurationFlag.ts"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"
import * as Invocation from "./Invocation.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"

const DEFAULT = "sqlite:./data/animal-store.db"

/** `--database`. */
export const address = Setting.withDefault(
  Failure.flagOf.database,
  "ADDRESS",
  "Address of the database: sqlite:PATH, postgres://user:password@host:port/database, or memory: (lost when the process exits).",
  Setting.text,
  DEFAULT
)

/** `--limits`. */
export const limits = Setting.make(
  Failure.flagOf.limits,
  "ADDRESS",
  "Address of the database for rate limits and bans, as for --database, or redis://user:password@host:port. Default: the same database.",
  Setting.text
).pipe(Flag.optional)

/** `--database-timeout`, in milliseconds. */
export const timeoutMs = Setting.withDefault(
  Failure.flagOf.databaseTimeoutMs,
  "DURATION",
  "Timeout for database calls, such as 500ms or 5s.",
  DurationFlag.parse(bounds.databaseTimeoutMs.min, bounds.databaseTimeoutMs.max),
  DurationFlag.format(defaults.databaseTimeoutMs)
)

/** `--database-connections`. */
export const connections = Setting.withDefault(
  Failure.flagOf.databaseConnections,
  "N",
  "Maximum number of connections to PostgreSQL.",
  Setting.between(bounds.databaseConnections.min, bounds.databaseConnections.max),
  String(defaults.databaseConnections)
)

/** `--key-cache`, in milliseconds. */
export const keyCacheMs = Setting.withDefault(
  Failure.flagOf.keyCacheMs,
  "DURATION",
  `How long keys are cached, and therefore how long a revocation can take: 0 to ${DurationFlag.format(bounds.keyCacheMs.max)}.`,
  DurationFlag.parse(bounds.keyCacheMs.min, bounds.keyCacheMs.max),
  DurationFlag.format(defaults.keyCacheMs)
)

/** `--max-anonymous-states`. */
export const maxAnonymousStates = Setting.withDefault(
  Failure.flagOf.maxAnonymousStates,
  "N",
  "Maximum number of client networks whose anonymous requests are counted.",
  Setting.between(bounds.maxAnonymousStates.min, bounds.maxAnonymousStates.max),
  String(defaults.maxAnonymousStates)
)

/** Opens the store, and closes it when the scope closes. Opening can be interrupted. */
export const open = (
  options: AnimalStoreOptions
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.flatMap(Host, ({ log }) =>
    Effect.acquireRelease(
      // By default only warnings are logged; commands print their results to standard output.
      Failure.attempt((signal) => openAnimalStore({ logLevel: "warn", log, ...options, signal })),
      (store) => Effect.promise(() => store.close()),
      { interruptible: true }
    )
  )

/** Opens an existing store; fails if one of its SQLite files does not exist. */
export const openExisting = (
  options: AnimalStoreOptions & { readonly database: string }
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* requireExisting(options.database, Failure.flagOf.database)
    if (options.limits !== undefined) yield* requireExisting(options.limits, Failure.flagOf.limits)
    return yield* open(options)
  })

/** Fails if the SQLite file of an address does not exist. The error names `flag`, the source of the address. */
export const requireExisting = (address: string, flag: string): Effect.Effect<void, CliError.UserError> => {
  const filename = filenameOf(address)
  return filename === undefined || existsSync(filename)
    ? Effect.void
    : Effect.fail(
        Failure.userError(new Error(`${Setting.title(flag)}: there is no database at ${printable(filename)}`))
      )
}

const filenameOf = (address: string): string | undefined => {
  const parsed = Option.getOrUndefined(Result.getSuccess(DatabaseAddress.parse(address)))
  return parsed?.kind === "sqlite" ? parsed.filename : undefined
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
    return address === DEFAULT
      ? `To issue a key: ${command}`
      : `To issue a key (use the same --database): ${command}`
  })
