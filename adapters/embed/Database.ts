/** Creates the stores for a database address. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Memory from "../memory/Memory.ts"
import type { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
import type * as Sql from "../sql/Sql.ts"
import * as SqlOptions from "../sql/SqlOptions.ts"

/** Options of databases. */
export interface DatabaseOptions {
  /** Milliseconds, 1 or more, after which a call to the database fails (503). */
  readonly databaseTimeoutMs: number
  /** Maximum number of connections to PostgreSQL, 1 or more. */
  readonly databaseConnections: number
  /** Milliseconds, 0 to 5000, for which API keys are cached, which delays revocations on other nodes. */
  readonly keyCacheMs: number
  /**
   * Maximum number of stored rate-limit states of client networks, 1000 or more. Requests without a valid key are
   * counted against these states; the least recently used ones are evicted.
   */
  readonly maxAnonymousStates: number
}

/** The default options. */
export const defaults: DatabaseOptions = {
  databaseTimeoutMs: SqlOptions.defaults.timeoutMs,
  databaseConnections: SqlOptions.defaultConnections,
  keyCacheMs: SqlOptions.defaults.keyCacheMs,
  maxAnonymousStates: SqlOptions.defaults.maxAnonymousStates
}

/** The bounds of each option; all options are integers. */
export const bounds = {
  databaseTimeoutMs: SqlOptions.bounds.timeoutMs,
  databaseConnections: SqlOptions.bounds.connections,
  keyCacheMs: SqlOptions.bounds.keyCacheMs,
  maxAnonymousStates: SqlOptions.bounds.maxAnonymousStates
} as const

/** The options that take an address. */
export type AddressOption = "database" | "limits"

/** The database address or a database option is invalid. */
export class InvalidDatabase extends Data.TaggedError("InvalidDatabase")<{
  readonly option: AddressOption | keyof DatabaseOptions
  readonly reason: string
}> {
  override get message(): string {
    return `${this.option}: ${this.reason}`
  }
}

const names = [
  "databaseTimeoutMs",
  "databaseConnections",
  "keyCacheMs",
  "maxAnonymousStates"
] as const satisfies ReadonlyArray<keyof DatabaseOptions>

/**
 * Returns the stores at `address`: `memory:` stores data in this process only, `sqlite:PATH` in a file, and
 * `postgres://…` on a server. `clock` selects the clock for rate limits.
 */
export const stores = (
  address: string,
  given: DatabaseOptions,
  clock: SqlOptions.SqlOptions["clock"],
  option: AddressOption = "database"
): Result.Result<Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom>, InvalidDatabase> => {
  for (const name of names) {
    const reason = SqlOptions.fault(given[name], bounds[name])
    if (reason !== undefined) return Result.fail(new InvalidDatabase({ option: name, reason }))
  }
  const {
    databaseConnections: connections,
    databaseTimeoutMs: timeoutMs,
    keyCacheMs,
    maxAnonymousStates
  } = given
  const options = { timeoutMs, keyCacheMs, maxAnonymousStates }
  if (address === "memory:") {
    return Result.succeed(
      Memory.layerWith({ maxAnonymousStates, clock: clock === "service" ? "service" : "process" })
    )
  }
  // Drivers are imported on demand: loading takes time, and node:sqlite prints a warning on older Node versions.
  // `sqlite://` and `sqlite::memory:` are rejected: they look like a URL and like SQLite's memory database, but would
  // be file names.
  const filename = /^sqlite:(?!\/\/)([^\0]+)$/.exec(address)?.[1]
  if (filename !== undefined && filename !== ":memory:") {
    return Result.succeed(
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("../sql/Sqlite.ts")),
          (sqlite) => sqlite.layer({ ...options, filename })
        )
      )
    )
  }
  // "#" is rejected: an unescaped "#" in a password would start the fragment and change the host.
  if (/^postgres(?:ql)?:\/\/[^#]*$/.test(address) && URL.canParse(address)) {
    const url = Redacted.make(address)
    return Result.succeed(
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("../sql/Postgres.ts")),
          (postgres) => postgres.layer({ ...options, url, connections, clock })
        )
      )
    )
  }
  // The message does not contain the address, which may include a password.
  return Result.fail(
    new InvalidDatabase({
      option,
      reason: "must be 'memory:', 'sqlite:PATH' or 'postgres://user:password@host:port/database'"
    })
  )
}

/** Returns only the rate-limit store at `address`, to store rate limits in another database than animals and keys. */
export const limits = (
  address: string,
  given: DatabaseOptions,
  clock: SqlOptions.SqlOptions["clock"]
): Result.Result<Layer.Layer<RateLimitStore, DatabaseUnusable, SecureRandom.SecureRandom>, InvalidDatabase> =>
  Result.map(stores(address, given, clock, "limits"), (layer) =>
    Layer.effect(RateLimitStore, RateLimitStore).pipe(Layer.provide(layer))
  )
