/** Defines observers of database calls and of batch sizes. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type * as ResponseStore from "../../core/ports/ResponseStore.ts"

/**
 * The name of a kind of database in the OpenTelemetry conventions (`db.system.name`). Stores in memory have no name,
 * because their calls are not observed.
 */
export type DatabaseSystem = "postgresql" | "sqlite" | "redis"

/** The name of each method of a port, or `undefined` for a method that is not observed. */
type Names<Port> = { readonly [method in keyof Port]-?: string | undefined }

/** The names of the calls to ports; they are the same for every kind of database. */
export const operations = {
  pets: { insert: "insert_pet", insertOnce: "insert_pet", find: "find_pet", page: "page_pets" },
  limits: {
    modify: "count_request",
    consume: "count_request",
    consumeMany: "count_request",
    read: undefined,
    rehearse: undefined
  },
  keys: {
    findByHash: "find_api_key",
    insert: "insert_api_key",
    insertFirst: "insert_api_key",
    update: "update_api_key",
    list: "list_api_keys",
    find: "find_api_key",
    events: undefined,
    markSeen: undefined
  },
  responses: { claim: "claim_response", settle: "settle_response" }
} as const satisfies {
  readonly pets: Names<PetRepository["Service"]>
  readonly limits: Names<RateLimitStore["Service"]>
  readonly keys: Names<ApiKeyStore["Service"]>
  readonly responses: Names<ResponseStore.Methods>
}

type NameIn<Port> = Exclude<Port[keyof Port], undefined>

/** The name of a call to a port. */
export type DatabaseOperation =
  | NameIn<(typeof operations)["pets"]>
  | NameIn<(typeof operations)["limits"]>
  | NameIn<(typeof operations)["keys"]>
  | NameIn<(typeof operations)["responses"]>

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
