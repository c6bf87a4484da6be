/** Creates the stores for a database address. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Memory from "../memory/Memory.ts"
import type { RedisUnusable } from "../redis/RedisUnusable.ts"
import type { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
import type * as Sql from "../sql/Sql.ts"
import * as SqlOptions from "../sql/SqlOptions.ts"
import * as DatabaseAddress from "./DatabaseAddress.ts"

/** Options of the stores on a database. */
export interface DatabaseOptions {
  /** Milliseconds, 1 or more, after which a call to the database fails (503). */
  readonly databaseTimeoutMs: number
  /** Maximum number of connections to PostgreSQL, 1 or more. */
  readonly databaseConnections: number
  /** Milliseconds, 0 to 5,000, for which API keys are cached; this delays revocations on other nodes. */
  readonly keyCacheMs: number
  /**
   * Maximum number of stored rate-limit states of client networks, 1,000 or more. Requests without a valid key are
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

/** The rule of each option. */
export const rules: Options.Rules<DatabaseOptions> = {
  databaseTimeoutMs: Rule.integer(bounds.databaseTimeoutMs),
  databaseConnections: Rule.integer(bounds.databaseConnections),
  keyCacheMs: Rule.integer(bounds.keyCacheMs),
  maxAnonymousStates: Rule.integer(bounds.maxAnonymousStates)
}

/** The options that take an address. */
export type AddressOption = "database" | "limits"

/** The address of a database is invalid. */
export class InvalidDatabase extends Data.TaggedError("InvalidDatabase")<{
  readonly option: AddressOption
  readonly reason: string
}> {
  override get message(): string {
    return `${this.option}: ${this.reason}`
  }
}

/**
 * Returns the stores at `address`: `memory:` stores data in this process only, `sqlite:PATH` in a file, and
 * `postgres://…` on a server. The options must obey `rules`. `clock` selects the clock for rate limits, and errors
 * name `option`.
 */
export const stores = (
  address: string,
  given: DatabaseOptions,
  clock: SqlOptions.SqlOptions["clock"],
  option: AddressOption = "database"
): Result.Result<Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom>, InvalidDatabase> => {
  const {
    databaseConnections: connections,
    databaseTimeoutMs: timeoutMs,
    keyCacheMs,
    maxAnonymousStates
  } = given
  const options = { timeoutMs, keyCacheMs, maxAnonymousStates }
  return ofKind(address, option, {
    memory: () =>
      Result.succeed(
        Memory.layerWith({ maxAnonymousStates, clock: clock === "service" ? "service" : "process" })
      ),
    sqlite: (module, filename) => module.layer({ ...options, filename }),
    postgres: (module, url) => module.layer({ ...options, url, connections, clock }),
    redis: () => Result.fail(new InvalidDatabase({ option, reason: LIMITS_ONLY }))
  })
}

const LIMITS_ONLY =
  "redis:// can store only rate limits: pass it as `limits`, and use SQLite or PostgreSQL for animals and keys"

/** Returns a client of the database at `address` for operations on whole tables; creates missing tables. */
export const tables = (
  address: string
): Result.Result<Layer.Layer<SqlClient.SqlClient, DatabaseUnusable>, InvalidDatabase> =>
  ofKind(address, "database", {
    memory: () =>
      Result.fail(
        new InvalidDatabase({
          option: "database",
          reason:
            "a memory: database cannot be exported, imported or copied, because it exists only within one process"
        })
      ),
    sqlite: (module, filename) => module.tables(filename),
    postgres: (module, url) => module.tables(url),
    redis: () => Result.fail(new InvalidDatabase({ option: "database", reason: LIMITS_ONLY }))
  })

/** Creates a layer of type `L` for each kind of database. */
interface Kinds<L> {
  readonly memory: () => Result.Result<L, InvalidDatabase>
  readonly sqlite: (module: typeof import("../sql/Sqlite.ts"), filename: string) => L
  readonly postgres: (module: typeof import("../sql/Postgres.ts"), url: Redacted.Redacted<string>) => L
  readonly redis: (url: Redacted.Redacted<string>) => Result.Result<L, InvalidDatabase>
}

const ofKind = <A, E, R>(
  address: string,
  option: AddressOption,
  kinds: Kinds<Layer.Layer<A, E, R>>
): Result.Result<Layer.Layer<A, E, R>, InvalidDatabase> => {
  const parsed = DatabaseAddress.parse(address, option)
  if (Result.isFailure(parsed)) return Result.fail(new InvalidDatabase({ option, reason: parsed.failure }))
  switch (parsed.success.kind) {
    case "memory":
      return kinds.memory()
    case "sqlite": {
      const { filename } = parsed.success
      const load = () => import("../sql/Sqlite.ts")
      return Result.succeed(loadLayer(load, (module) => kinds.sqlite(module, filename)))
    }
    case "postgres": {
      const { url } = parsed.success
      const load = () => import("../sql/Postgres.ts")
      return Result.succeed(loadLayer(load, (module) => kinds.postgres(module, url)))
    }
    case "redis":
      return kinds.redis(parsed.success.url)
  }
}

/** Imports a driver on demand: loading takes time, and node:sqlite prints a warning on older Node versions. */
const loadLayer = <Module, A, E, R>(
  load: () => Promise<Module>,
  layerOf: (module: Module) => Layer.Layer<A, E, R>
): Layer.Layer<A, E, R> => Layer.unwrap(Effect.map(Effect.promise(load), layerOf))

/**
 * Returns only the rate-limit store at `address`, to store rate limits in a different database from animals and
 * keys, or in Redis.
 */
export const limits = (
  address: string,
  given: DatabaseOptions,
  clock: SqlOptions.SqlOptions["clock"]
): Result.Result<
  Layer.Layer<RateLimitStore, DatabaseUnusable | RedisUnusable, SecureRandom.SecureRandom>,
  InvalidDatabase
> => {
  const { databaseTimeoutMs: timeoutMs, maxAnonymousStates } = given
  const parsed = DatabaseAddress.parse(address, "limits")
  if (Result.isSuccess(parsed) && parsed.success.kind === "redis") {
    const { url } = parsed.success
    const load = () => import("../redis/Redis.ts")
    return Result.succeed(
      loadLayer(load, (module) => module.layer({ timeoutMs, maxAnonymousStates, clock, url }))
    )
  }
  return Result.map(stores(address, given, clock, "limits"), (layer) =>
    Layer.effect(RateLimitStore, RateLimitStore).pipe(Layer.provide(layer))
  )
}
