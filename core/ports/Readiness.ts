/** Port: whether what the service stands on can serve right now. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/**
 * Succeeds when the stores would carry out reads and writes, within the time that the adapter documents; `/readyz` says
 * so. Stores that cannot fail need not provide it.
 */
export const Readiness = Context.Reference<Effect.Effect<void, StoreUnavailable>>(
  "animal-store/core/ports/Readiness",
  { defaultValue: () => Effect.void }
)
