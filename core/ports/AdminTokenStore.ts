/** Defines the storage of the tokens of administrators, a part of the port for API keys. */
import type * as Effect from "effect/Effect"
import type { AdminToken } from "../access/AdminToken.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/** Stores the tokens of administrators, of which there are few. */
export interface AdminTokenStore {
  /** Adds a token; the caller guarantees that its id and its hash are new. */
  readonly insert: (token: AdminToken) => Effect.Effect<void, StoreUnavailable>
  /** Returns all tokens, oldest first. The result includes every acknowledged `insert` and `revoke`. */
  readonly list: Effect.Effect<ReadonlyArray<AdminToken>, StoreUnavailable>
  /** Sets `revokedAt` of a token that is not revoked to `at`; an id without a token is ignored. */
  readonly revoke: (id: string, at: number) => Effect.Effect<void, StoreUnavailable>
}
