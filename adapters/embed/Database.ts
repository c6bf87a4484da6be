/** Creates the stores for a database address. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Options from "../../core/options/Options.ts"
import type * as OptionTable from "../../core/options/OptionTable.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Memory from "../memory/Memory.ts"
import type { RedisUnusable } from "../redis/RedisUnusable.ts"
import type { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
import type * as Migrations from "../sql/Migrations.ts"
import type * as Sql from "../sql/Sql.ts"
import * as SqlOptions from "../sql/SqlOptions.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"
import * as DatabaseAddress from "./DatabaseAddress.ts"

/** Options of the stores on a database. */
export interface DatabaseOptions
  extends StorageOptions.LimitsOptions,
    Pick<SqlOptions.SqlOptions, "keyCacheMs"> {
  /** Timeout of a call to the database. In milliseconds; after the timeout, the response is 503. */
  readonly databaseTimeoutMs: number
  /** Maximum number of connections to PostgreSQL. */
  readonly databaseConnections: number
}

const { keyCacheMs, timeoutMs: databaseTimeoutMs } = SqlOptions.table

/** The rule, the default and the flag of each option. */
export const table = {
  databaseTimeoutMs,
  databaseConnections: SqlOptions.connections,
  keyCacheMs,
  ...StorageOptions.limitsTable
} satisfies OptionTable.OptionTable<DatabaseOptions>

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
 * `postgres://…` on a server. The options must obey `table`. `clock` selects the clock for rate limits, and errors
 * name `option`.
 */
export const stores = (
  address: string,
  given: DatabaseOptions,
  clock: SqlOptions.SqlOptions["clock"],
  option: AddressOption = "database"
): Result.Result<Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom>, InvalidDatabase> => {
  const { databaseConnections: connections, keyCacheMs } = given
  return ofKind(address, option, {
    memory: () =>
      Result.succeed(
        Memory.layerWith({ ...limitsOptions(given), clock: clock === "service" ? "service" : "process" })
      ),
    sqlite: (module, filename) => module.layer({ ...callOptions(given), keyCacheMs, filename }),
    postgres: (module, url) => module.layer({ ...callOptions(given), keyCacheMs, url, connections, clock }),
    redis: () => Result.fail(new InvalidDatabase({ option, reason: LIMITS_ONLY }))
  })
}

const limitsOptions = (given: DatabaseOptions) =>
  Options.pick<StorageOptions.LimitsOptions>(StorageOptions.limitsTable, given)

const callOptions = (given: DatabaseOptions) => ({
  ...limitsOptions(given),
  timeoutMs: given.databaseTimeoutMs
})

const LIMITS_ONLY =
  "redis:// can store only rate limits: pass it as `limits`, and use SQLite or PostgreSQL for animals and keys"

/** A client of a database, or the reason why its address is invalid. */
export type Tables = Result.Result<Layer.Layer<SqlClient.SqlClient, DatabaseUnusable>, InvalidDatabase>

/** Returns a client for operations on whole tables at `address`; migrates them, and creates them in a target. */
export const tables = (address: string, use: Migrations.Use = "target"): Tables =>
  client(address, use, "database")

/** Returns a client that only reads the tables of the store at `address`; changes nothing, and creates no store. */
export const reading = (address: string, option: AddressOption = "database"): Tables =>
  client(address, "reading", option)

const client = (address: string, use: Migrations.Use, option: AddressOption): Tables =>
  ofKind(address, option, {
    ...withoutTables,
    sqlite: (module, filename) => module.client(filename, use),
    postgres: (module, url) => module.client(url, use)
  })

const withoutTables = {
  memory: () =>
    Result.fail(
      new InvalidDatabase({
        option: "database",
        reason:
          "a memory: database cannot be exported, imported or copied, because it exists only within one process"
      })
    ),
  redis: () => Result.fail(new InvalidDatabase({ option: "database", reason: LIMITS_ONLY }))
}

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
  const parsed = DatabaseAddress.parse(address, "limits")
  if (Result.isSuccess(parsed) && parsed.success.kind === "redis") {
    const { url } = parsed.success
    const load = () => import("../redis/Redis.ts")
    return Result.succeed(loadLayer(load, (module) => module.layer({ ...callOptions(given), url, clock })))
  }
  return Result.map(stores(address, given, clock, "limits"), (layer) =>
    Layer.effect(RateLimitStore, RateLimitStore).pipe(Layer.provide(layer))
  )
}
