/** Port: what an adapter knows of its readiness. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/**
 * Succeeds if the stores would carry out an insert, within the time that the adapter documents, and leaves nothing
 * behind. `/readyz` also asks the stores themselves for a page, a key and a counted request; a store whose inserts cannot fail
 * otherwise need not provide this.
 */
export const Readiness = Context.Reference<Effect.Effect<void, StoreUnavailable>>(
  "animal-store/core/ports/Readiness",
  { defaultValue: () => Effect.void }
)
