/** Options of the stores in a database, and their bounds. */
import * as Result from "effect/Result"
import * as Caller from "../../core/limits/Caller.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import { DatabaseUnusable } from "./DatabaseUnusable.ts"

/** Options of all stores. */
export interface SqlOptions {
  /** Timeout of a call in milliseconds; the service then returns 503. */
  readonly timeoutMs: number
  /** Milliseconds that API keys are cached, which also delays revocations on other nodes. */
  readonly keyCacheMs: number
  /** Maximum number of stored rate-limit states of networks, which count requests without a valid key. */
  readonly maxAnonymousStates: number
  /** The clock of rate limits: the database's (PostgreSQL only), which all nodes share, or the service's. */
  readonly clock: "database" | "service"
}

/** Default values. */
export const defaults: SqlOptions = {
  timeoutMs: 1_000,
  keyCacheMs: 5_000,
  maxAnonymousStates: Caller.defaultMaxNetworks,
  clock: "database"
}

/** Enough connections for two cores; four nodes stay far below a server's default of 100. */
export const defaultConnections = 16

/** Smallest and largest value of each option, in whole numbers. */
export const bounds = {
  timeoutMs: { min: 1, max: 60_000 },
  keyCacheMs: { min: 0, max: 5_000 },
  maxAnonymousStates: { min: 1_000, max: 100_000_000 },
  connections: { min: 1, max: 1_000 }
} as const

/** The rule of each option. */
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
