/** Defines the options of the store in Redis, their default values and their bounds. */
import * as Result from "effect/Result"
import * as Caller from "../../core/limits/Caller.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import { RedisUnusable } from "./RedisUnusable.ts"

/** Options of the store. */
export interface RedisOptions {
  /** Timeout of a call in milliseconds; after the timeout, the service returns 503. */
  readonly timeoutMs: number
  /**
   * Maximum number of stored rate-limit states of networks, which count requests without a valid key. All nodes need
   * the same number, because it determines the key that contains the state of a network.
   */
  readonly maxAnonymousStates: number
  /** The clock for rate limits: `database` is the clock of Redis, which all nodes share; `service` is for tests. */
  readonly clock: "database" | "service"
}

/** Default values. */
export const defaults: RedisOptions = {
  timeoutMs: 1_000,
  maxAnonymousStates: Caller.defaultMaxNetworks,
  clock: "database"
}

/** The validation rule of each option. */
export const rules: Options.Rules<RedisOptions> = {
  timeoutMs: Rule.integer({ min: 1, max: 60_000 }),
  maxAnonymousStates: Rule.integer({ min: 1_000, max: 100_000_000 }),
  clock: Rule.oneOf(["database", "service"])
}

/** Adds the defaults; fails with the first unknown or invalid option. */
export const resolve = (
  given: {
    readonly [option in keyof RedisOptions]?: RedisOptions[option] | undefined
  }
): Result.Result<RedisOptions, RedisUnusable> =>
  Result.mapBoth(Options.check(rules, given), {
    onFailure: ({ option, reason }) => new RedisUnusable({ reason: `${option} ${reason}` }),
    onSuccess: (present) => ({ ...defaults, ...present })
  })
