/** Provides API keys and rate limits for reading only: databases are neither created nor changed. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as OptionTable from "../../core/options/OptionTable.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as RedisAddress from "../redis/RedisAddress.ts"
import type { RedisUnusable } from "../redis/RedisUnusable.ts"
import type { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
import * as Database from "./Database.ts"

/** Returns the keys at `address`; a call that takes longer than `timeoutMs` milliseconds fails. */
export const keys = (
  address: string,
  timeoutMs: number
): Result.Result<Layer.Layer<ApiKeyStore, DatabaseUnusable>, Database.InvalidDatabase> =>
  Result.map(Database.reading(address), (client) =>
    Layer.unwrap(
      Effect.map(
        Effect.promise(() => import("../sql/SqlApiKeyStore.ts")),
        (module) => Layer.provide(module.layer({ timeoutMs }), client)
      )
    )
  )

/** Returns the rate limits at `address`, which may be Redis; a call that takes longer than `timeoutMs` fails. */
export const limits = (
  address: string,
  timeoutMs: number
): Result.Result<Layer.Layer<RateLimitStore, DatabaseUnusable | RedisUnusable>, Database.InvalidDatabase> => {
  if (RedisAddress.isRedis(address)) {
    const options = {
      ...OptionTable.defaults<Database.DatabaseOptions>(Database.table),
      databaseTimeoutMs: timeoutMs
    }
    return Result.map(
      Database.limits(address, options, "database"),
      Layer.provide(SecureRandom.layerWebCrypto)
    )
  }
  return Result.map(Database.reading(address, "limits"), (client) =>
    Layer.unwrap(
      Effect.map(
        Effect.promise(() => import("../sql/SqlRateLimitStore.ts")),
        (module) => Layer.provide(module.reading({ timeoutMs }), client)
      )
    )
  )
}
