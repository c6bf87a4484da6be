/** What observers of a database learn: its calls, and the sizes of its group commits. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"

/** The name of a kind of database in the OpenTelemetry conventions (`db.system.name`). */
export type DatabaseSystem = "postgresql" | "sqlite" | "memory"

/** A call of a port, in words that are the same for every kind of database. */
export type DatabaseOperation =
  | "insert_pet"
  | "find_pet"
  | "page_pets"
  | "count_request"
  | "find_api_key"
  | "insert_api_key"
  | "update_api_key"
  | "list_api_keys"

/** An observer of database calls. */
export interface CallObserver {
  /** Wraps a call; the result is that of the call. */
  readonly around: <A>(
    system: DatabaseSystem,
    operation: DatabaseOperation,
    call: Effect.Effect<A, StoreUnavailable>
  ) => Effect.Effect<A, StoreUnavailable>
  /** Receives the number of writes that shared a transaction. */
  readonly committed: (writes: number) => void
}

/** The observer of all stores; absent by default, and then calls are not wrapped. */
export const CallObserver = Context.Reference<CallObserver | undefined>(
  "animal-store/adapters/storage/CallObserver",
  { defaultValue: () => undefined }
)
