/** All three ports over a `SqlClient` of SQLite or PostgreSQL. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Cursor from "../../core/validation/Cursor.ts"
import * as ApiKeyCache from "./ApiKeyCache.ts"
import type { DatabaseUnusable } from "./DatabaseUnusable.ts"
import * as Migrations from "./Migrations.ts"
import * as SqlApiKeyStore from "./SqlApiKeyStore.ts"
import * as SqlCursorKey from "./SqlCursorKey.ts"
import * as SqlPetRepository from "./SqlPetRepository.ts"
import * as SqlRateLimitStore from "./SqlRateLimitStore.ts"
import * as SqlReadiness from "./SqlReadiness.ts"

/** How the stores use their database. */
export interface SqlOptions {
  /** Milliseconds after which a call is given up; the service then answers 503. */
  readonly timeoutMs: number
  /** Milliseconds that API keys are kept in memory, 0 to 5000: so long a revocation may take to reach every node. */
  readonly keyCacheMs: number
  /** Whose time limits go by: that of the database (PostgreSQL only), which all nodes share, or the service's. */
  readonly clock: "database" | "service"
}

/** What holds for every option that is not given. */
export const defaults: SqlOptions = { timeoutMs: 1_000, keyCacheMs: 5_000, clock: "database" }

/** The ports that a database offers. */
export type Stores = ApiKeyStore | PetRepository | RateLimitStore

/**
 * The stores over the `SqlClient` in the context; the tables are made or brought up to date first. Limits may have a
 * client of their own that waits less for the disk.
 */
export const layer = (
  given: Partial<SqlOptions> = {},
  limitsClient: Layer.Layer<SqlClient.SqlClient, DatabaseUnusable> | undefined = undefined
): Layer.Layer<Stores, DatabaseUnusable, SecureRandom.SecureRandom | SqlClient.SqlClient> => {
  const options = { ...defaults, ...given }
  const limits = Layer.merge(SqlRateLimitStore.layer(options), SqlReadiness.layer(options))
  const stores = Layer.mergeAll(
    SqlPetRepository.layer(options),
    ApiKeyCache.layer(options.keyCacheMs).pipe(Layer.provide(SqlApiKeyStore.layer(options))),
    Layer.effect(Cursor.SharedKey, SqlCursorKey.get),
    limitsClient === undefined ? limits : Layer.provide(limits, limitsClient)
  )
  return Layer.unwrap(Effect.as(Migrations.migrate, stores))
}
