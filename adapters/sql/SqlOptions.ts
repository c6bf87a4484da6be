/** Options of the stores in a database, and their bounds. */
import * as Result from "effect/Result"
import * as Caller from "../../core/limits/Caller.ts"
import { DatabaseUnusable } from "./DatabaseUnusable.ts"

/** Options of all stores. */
export interface SqlOptions {
  /** Timeout of a call in milliseconds; the service then returns 503. */
  readonly timeoutMs: number
  /** Milliseconds that API keys are cached, which is also how late a revocation can reach other nodes. */
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

/** The reason why `value` is out of bounds, or `undefined`. */
export const fault = (value: number, { max, min }: { readonly min: number; readonly max: number }) =>
  Number.isInteger(value) && value >= min && value <= max
    ? undefined
    : `must be a whole number from ${min} to ${max}`

/** Adds the defaults; fails with the first invalid option. */
export const resolve = (
  given: {
    readonly [option in keyof SqlOptions]?: SqlOptions[option] | undefined
  }
): Result.Result<SqlOptions, DatabaseUnusable> => {
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  const options: SqlOptions = { ...defaults, ...Object.fromEntries(present) }
  for (const option of ["timeoutMs", "keyCacheMs", "maxAnonymousStates"] as const) {
    const reason = fault(options[option], bounds[option])
    if (reason !== undefined) return Result.fail(new DatabaseUnusable({ reason: `${option} ${reason}` }))
  }
  return Result.succeed(options)
}
