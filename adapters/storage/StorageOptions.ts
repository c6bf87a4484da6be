/** Defines the options that storage adapters share. */
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"

/** Options of every store for rate limits. */
export interface LimitsOptions {
  /**
   * Maximum number of client networks whose requests without a valid key are counted. The least recently used ones are
   * evicted. In Redis, all nodes need the same number, because it determines the key that contains the state of a
   * network.
   */
  readonly maxAnonymousStates: number
}

/** The rule, the default and the flag of each option. */
export const limitsTable = {
  maxAnonymousStates: OptionTable.flag(
    "max-anonymous-states",
    Rule.integer({ min: 1_000, max: 100_000_000 }),
    // About 40 MB in memory. Most evicted buckets are full again, so the eviction only resets daily quotas.
    100_000
  )
} satisfies OptionTable.OptionTable<LimitsOptions>

/** Options of every store on a server or in a file. */
export interface CallOptions extends LimitsOptions {
  /** Timeout of a call to the database in milliseconds; after the timeout, the service returns 503. */
  readonly timeoutMs: number
  /**
   * The clock for rate limits: `database` is the clock of the database server, which all nodes share; `service` is the
   * service's clock, which SQLite always uses.
   */
  readonly clock: "database" | "service"
}

/** The rule, the default and the flag of each option. */
export const callTable = {
  ...limitsTable,
  timeoutMs: OptionTable.flag("database-timeout", Rule.milliseconds({ min: 1, max: 60_000 }), 1_000),
  clock: OptionTable.programOnly(
    Rule.oneOf(["database", "service"]),
    "database",
    "the service's clock is for tests"
  )
} satisfies OptionTable.OptionTable<CallOptions>
