/** Defines the options that storage adapters share. */
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"

/** Options of every store for rate limits. */
export interface LimitsOptions {
  /**
   * The least recently used states are evicted. In Redis, all nodes need the same number, because it determines the key
   * that contains the state of a network.
   */
  readonly maxAnonymousStates: number
}

/** Each option with its rule, default, flag and meaning. */
export const limitsTable = {
  maxAnonymousStates: OptionTable.flag(Rule.integer({ min: 1_000, max: 100_000_000 }), {
    summary: "Maximum number of client networks whose requests without a valid key are counted.",
    // About 40 MB in memory. Most evicted buckets are full again, so the eviction only resets daily quotas.
    default: 100_000,
    flag: "max-anonymous-states"
  })
} satisfies OptionTable.OptionTable<LimitsOptions>

/** Options of every store on a server or in a file. */
export interface CallOptions extends LimitsOptions {
  /** In milliseconds. */
  readonly timeoutMs: number
  /**
   * `database` is the clock of the database server, which all nodes share; `service` is the service's clock, which
   * SQLite always uses.
   */
  readonly clock: "database" | "service"
}

/** Each option with its rule, default, flag and meaning. */
export const callTable = {
  ...limitsTable,
  timeoutMs: OptionTable.flag(Rule.milliseconds({ min: 1, max: 60_000 }), {
    summary: "Timeout of a call to the database; after it, the response is 503.",
    default: 1_000,
    flag: "database-timeout"
  }),
  clock: OptionTable.programOnly(Rule.oneOf(["database", "service"]), {
    summary: "The clock for rate limits.",
    default: "database",
    noFlag: "the service's clock is for tests"
  })
} satisfies OptionTable.OptionTable<CallOptions>
