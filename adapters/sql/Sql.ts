/** Provides all three ports over a `SqlClient` of SQLite or PostgreSQL. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Cursor from "../../core/codec/Cursor.ts"
import { AdminTokenStore } from "../../core/ports/AdminTokenStore.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { Readiness } from "../../core/ports/Readiness.ts"
import { ResponseStore } from "../../core/ports/ResponseStore.ts"
import * as ObservedStores from "../storage/ObservedStores.ts"
import * as ApiKeyCache from "./ApiKeyCache.ts"
import type { DatabaseUnusable } from "./DatabaseUnusable.ts"
import * as Migrations from "./Migrations.ts"
import * as PostgresSettings from "./PostgresSettings.ts"
import * as SqlApiKeyStore from "./SqlApiKeyStore.ts"
import * as SqlCall from "./SqlCall.ts"
import * as SqlCursorKey from "./SqlCursorKey.ts"
import * as SqlOptions from "./SqlOptions.ts"
import * as SqlPetRepository from "./SqlPetRepository.ts"
import * as SqlRateLimitStore from "./SqlRateLimitStore.ts"
import * as SqlReadiness from "./SqlReadiness.ts"
import * as SqlResponseStore from "./SqlResponseStore.ts"
import * as SqlTable from "./SqlTable.ts"

/** The ports that a database implements. */
export type Stores = ApiKeyStore | PetRepository | RateLimitStore

/** Checks the settings of the database, and creates or migrates the tables. */
const prepare: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (SqlTable.isPostgres(sql)) yield* PostgresSettings.check(sql)
  yield* Migrations.migrate
})

/**
 * Provides the `SqlClient` in the context: for reading, if the database contains the tables of this version; otherwise
 * after the tables are created or migrated.
 *
 * @internal
 */
export const opened = (
  use: Migrations.Use
): Layer.Layer<SqlClient.SqlClient, DatabaseUnusable, SqlClient.SqlClient> => {
  const steps = {
    reading: Migrations.check,
    source: Effect.andThen(Migrations.requireStore, prepare),
    target: prepare
  }
  return Layer.effect(SqlClient.SqlClient, Effect.andThen(steps[use], SqlClient.SqlClient))
}

/** Provides the stores over the `SqlClient` in the context; creates or migrates the tables first. */
export const layer = (
  given: Partial<SqlOptions.SqlOptions> = {}
): Layer.Layer<Stores, DatabaseUnusable, SecureRandom.SecureRandom | SqlClient.SqlClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const options = yield* Effect.fromResult(SqlOptions.resolve(given))
      const sql = yield* SqlClient.SqlClient
      yield* prepare
      const system = SqlTable.isPostgres(sql) ? "postgresql" : "sqlite"
      const call = SqlCall.make(options.timeoutMs)
      const keys = Layer.effect(ApiKeyStore, SqlApiKeyStore.make(sql, call, SqlApiKeyStore.apiKeys))
      const tokens = SqlApiKeyStore.make(sql, call, SqlApiKeyStore.adminTokens)
      const limits = Layer.effect(RateLimitStore, SqlRateLimitStore.make(sql, call, options))
      return Layer.mergeAll(
        Layer.succeed(Readiness, SqlReadiness.make(sql, call)),
        ObservedStores.responseStore(system)(Layer.succeed(ResponseStore, SqlResponseStore.make(sql, call))),
        ObservedStores.petRepository(system)(Layer.effect(PetRepository, SqlPetRepository.make(sql, call))),
        Layer.provide(ApiKeyCache.layer(options.keyCacheMs), ObservedStores.apiKeyStore(system)(keys)),
        Layer.effect(AdminTokenStore, tokens),
        Layer.effect(Cursor.SharedKey, SqlCursorKey.get),
        ObservedStores.rateLimitStore(system)(limits)
      )
    })
  )
