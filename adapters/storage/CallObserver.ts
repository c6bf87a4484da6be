/** Defines observers of database calls and of batch sizes. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"

/**
 * The name of a kind of database in the OpenTelemetry conventions (`db.system.name`). Stores in memory have no name,
 * because their calls are not observed.
 */
export type DatabaseSystem = "postgresql" | "sqlite" | "redis"

/** The name of a call to a port; it is the same for every kind of database. */
export type DatabaseOperation =
  | "insert_pet"
  | "find_pet"
  | "page_pets"
  | "count_request"
  | "find_api_key"
  | "insert_api_key"
  | "update_api_key"
  | "list_api_keys"

/** Wraps a call without changing its result. */
export type Observe = <A>(call: Effect.Effect<A, StoreUnavailable>) => Effect.Effect<A, StoreUnavailable>

/** An observer of database calls. */
export interface CallObserver {
  /** Returns the wrapper for all calls of an operation. */
  readonly observe: (system: DatabaseSystem, operation: DatabaseOperation) => Observe
  /** Receives the number of calls that shared a SQLite transaction or a PostgreSQL statement. */
  readonly committed: (calls: number) => void
}

/** The observer of all stores. If it is absent, which is the default, calls are not wrapped. */
export const CallObserver = Context.Reference<CallObserver | undefined>(
  "animal-store/adapters/storage/CallObserver",
  { defaultValue: () => undefined }
)
