/** Defines the options of the SQL stores. */
import * as Result from "effect/Result"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"
import { DatabaseUnusable } from "./DatabaseUnusable.ts"

/** Options of all stores. */
export interface SqlOptions extends StorageOptions.CallOptions {
  /** In milliseconds. */
  readonly keyCacheMs: number
}

/** Each option with its rule, default, flag and meaning. */
export const table = {
  ...StorageOptions.callTable,
  keyCacheMs: OptionTable.flag(Rule.milliseconds({ min: 0, max: 5_000 }), {
    summary: "Time for which API keys are cached; a revocation may take this long to reach other nodes.",
    default: 5_000,
    flag: "key-cache"
  })
} satisfies OptionTable.OptionTable<SqlOptions>

/** The number of connections to PostgreSQL. */
export const connections = OptionTable.flag(Rule.integer({ min: 1, max: 1_000 }), {
  summary: "Maximum number of connections to PostgreSQL.",
  // Enough for two cores; four nodes stay far below a server's default of 100.
  default: 16,
  flag: "database-connections"
})

/** Adds the defaults; fails with the first unknown or invalid option. */
export const resolve = (
  given: { readonly [option in keyof SqlOptions]?: SqlOptions[option] | undefined }
): Result.Result<SqlOptions, DatabaseUnusable> =>
  Result.mapError(
    OptionTable.resolve<SqlOptions>(table, given),
    ({ option, reason }) => new DatabaseUnusable({ reason: `${option} ${reason}` })
  )
