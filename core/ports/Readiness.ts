/** Port: readiness of the stores. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/**
 * Succeeds if an insert would succeed, within the time that the adapter documents, without storing anything. `/readyz`
 * also reads a page, looks up a key and counts a request. Adapters need this check only if inserts can fail while those
 * calls succeed.
 */
export const Readiness = Context.Reference<Effect.Effect<void, StoreUnavailable>>(
  "animal-store/core/ports/Readiness",
  { defaultValue: () => Effect.void }
)
