/** All three ports over a `SqlClient` of SQLite or PostgreSQL. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Cursor from "../../core/codec/Cursor.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as ApiKeyCache from "./ApiKeyCache.ts"
import type { DatabaseUnusable } from "./DatabaseUnusable.ts"
import * as Migrations from "./Migrations.ts"
import * as PostgresSettings from "./PostgresSettings.ts"
import * as SqlApiKeyStore from "./SqlApiKeyStore.ts"
import * as SqlCursorKey from "./SqlCursorKey.ts"
import * as SqlOptions from "./SqlOptions.ts"
import * as SqlPetRepository from "./SqlPetRepository.ts"
import * as SqlRateLimitStore from "./SqlRateLimitStore.ts"
import * as SqlReadiness from "./SqlReadiness.ts"

/** The ports that a database implements. */
export type Stores = ApiKeyStore | PetRepository | RateLimitStore

/**
 * The stores over the `SqlClient` in the context; creates or migrates the tables first. Limits can use a client of their
 * own that does not wait for the disk.
 */
export const layer = (
  given: Partial<SqlOptions.SqlOptions> = {},
  limitsClient: Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> | undefined = undefined
): Layer.Layer<Stores, DatabaseUnusable, SecureRandom.SecureRandom | SqlClient.SqlClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const options = yield* Effect.fromResult(SqlOptions.resolve(given))
      const sql = yield* SqlClient.SqlClient
      yield* sql.onDialectOrElse({ pg: () => PostgresSettings.check(sql), orElse: () => Effect.void })
      yield* Migrations.migrate
      const limits = SqlRateLimitStore.layer(options)
      return Layer.mergeAll(
        SqlReadiness.layer(options),
        SqlPetRepository.layer(options),
        ApiKeyCache.layer(options.keyCacheMs).pipe(Layer.provide(SqlApiKeyStore.layer(options))),
        Layer.effect(Cursor.SharedKey, SqlCursorKey.get),
        limitsClient === undefined ? limits : Layer.provide(limits, limitsClient)
      )
    })
  )
