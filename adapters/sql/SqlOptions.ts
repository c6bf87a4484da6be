/** How stores use their database: what may be chosen, and within which bounds. */
import * as Result from "effect/Result"
import * as Caller from "../../core/limits/Caller.ts"
import { DatabaseUnusable } from "./DatabaseUnusable.ts"

/** What may be chosen. */
export interface SqlOptions {
  /** Milliseconds after which a call is given up; the service then answers 503. */
  readonly timeoutMs: number
  /** Milliseconds that API keys are kept in memory: so long a revocation may take to reach every node. */
  readonly keyCacheMs: number
  /** Most rate-limit states of networks, which requests without a valid key are counted for. */
  readonly maxAnonymousStates: number
  /** Whose time limits go by: that of the database (PostgreSQL only), which all nodes share, or the service's. */
  readonly clock: "database" | "service"
}

/** What holds for every option that is not given. */
export const defaults: SqlOptions = {
  timeoutMs: 1_000,
  keyCacheMs: 5_000,
  maxAnonymousStates: Caller.defaultMaxNetworks,
  clock: "database"
}

/** Connections for two cores and some waiting; four nodes stay far below a server's default of 100. */
export const defaultConnections = 16

/** The least and the most that each may be, in whole numbers. */
export const bounds = {
  timeoutMs: { min: 1, max: 60_000 },
  keyCacheMs: { min: 0, max: 5_000 },
  maxAnonymousStates: { min: 1_000, max: 100_000_000 },
  connections: { min: 1, max: 1_000 }
} as const

/** Why `value` is none for an option with these bounds, or `undefined`. */
export const fault = (value: number, { max, min }: { readonly min: number; readonly max: number }) =>
  Number.isInteger(value) && value >= min && value <= max
    ? undefined
    : `must be a whole number from ${min} to ${max}`

/** The options completed by the defaults, or the first one at fault. */
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
