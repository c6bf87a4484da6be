/** Defines the options of the SQL stores, their default values and their bounds. */
import * as Result from "effect/Result"
import * as Caller from "../../core/limits/Caller.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import { DatabaseUnusable } from "./DatabaseUnusable.ts"

/** Options of all stores. */
export interface SqlOptions {
  /** Timeout of a call in milliseconds; after the timeout, the service returns 503. */
  readonly timeoutMs: number
  /** Milliseconds for which API keys are cached; a revocation may take this long to reach other nodes. */
  readonly keyCacheMs: number
  /** Maximum number of stored rate-limit states of networks, which count requests without a valid key. */
  readonly maxAnonymousStates: number
  /**
   * The clock for rate limits: `database` is the clock of PostgreSQL, which all nodes share; `service` is the service's
   * clock, which SQLite always uses.
   */
  readonly clock: "database" | "service"
}

/** Default values. */
export const defaults: SqlOptions = {
  timeoutMs: 1_000,
  keyCacheMs: 5_000,
  maxAnonymousStates: Caller.defaultMaxNetworks,
  clock: "database"
}

/** Default maximum number of connections: enough for two cores; four nodes stay far below a server's default of 100. */
export const defaultConnections = 16

/** Minimum and maximum of each integer option. */
export const bounds = {
  timeoutMs: { min: 1, max: 60_000 },
  keyCacheMs: { min: 0, max: 5_000 },
  maxAnonymousStates: { min: 1_000, max: 100_000_000 },
  connections: { min: 1, max: 1_000 }
} as const

/** The validation rule of each option. */
export const rules: Options.Rules<SqlOptions> = {
  timeoutMs: Rule.integer(bounds.timeoutMs),
  keyCacheMs: Rule.integer(bounds.keyCacheMs),
  maxAnonymousStates: Rule.integer(bounds.maxAnonymousStates),
  clock: Rule.oneOf(["database", "service"])
}

/** Adds the defaults; fails with the first unknown or invalid option. */
export const resolve = (
  given: {
    readonly [option in keyof SqlOptions]?: SqlOptions[option] | undefined
  }
): Result.Result<SqlOptions, DatabaseUnusable> =>
  Result.mapBoth(Options.check(rules, given), {
    onFailure: ({ option, reason }) => new DatabaseUnusable({ reason: `${option} ${reason}` }),
    onSuccess: (present) => ({ ...defaults, ...present })
  })
