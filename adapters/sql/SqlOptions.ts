/** Defines the options of the SQL stores. */
import * as Result from "effect/Result"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"
import { DatabaseUnusable } from "./DatabaseUnusable.ts"

/** Options of all SQL stores. */
export interface SqlOptions extends StorageOptions.CallOptions {
  /** Time for which API keys are cached; a revocation may take this long to reach other nodes. In milliseconds. */
  readonly keyCacheMs: number
}

/** The rule, the default and the flag of each option. */
export const table = {
  ...StorageOptions.callTable,
  keyCacheMs: OptionTable.flag("key-cache", Rule.milliseconds({ min: 0, max: 5_000 }), 5_000)
} satisfies OptionTable.OptionTable<SqlOptions>

/**
 * The maximum number of connections of a node. The default is enough for two cores, and four nodes together stay far
 * below 100, the default maximum of a PostgreSQL server.
 */
export const connections = OptionTable.flag("database-connections", Rule.integer({ min: 1, max: 1_000 }), 16)

/** Adds the defaults; fails with the first unknown or invalid option. */
export const resolve = (
  given: { readonly [option in keyof SqlOptions]?: SqlOptions[option] | undefined }
): Result.Result<SqlOptions, DatabaseUnusable> =>
  Result.mapError(
    OptionTable.resolve<SqlOptions>(table, given),
    ({ option, reason }) => new DatabaseUnusable({ reason: `${option} ${reason}` })
  )
