/** Defines the options of the store in Redis. */
import * as Result from "effect/Result"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"
import { RedisUnusable } from "./RedisUnusable.ts"

/** Options of the store. */
export interface RedisOptions extends StorageOptions.CallOptions {}

/** Adds the defaults; fails with the first unknown or invalid option. */
export const resolve = (
  given: { readonly [option in keyof RedisOptions]?: RedisOptions[option] | undefined }
): Result.Result<RedisOptions, RedisUnusable> =>
  Result.mapError(
    OptionTable.resolve<RedisOptions>(StorageOptions.callTable, given),
    ({ option, reason }) => new RedisUnusable({ reason: `${option} ${reason}` })
  )
