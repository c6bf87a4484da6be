/** Defines the port that checks the readiness of the stores. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/**
 * Checks whether an insert would succeed, without storing anything, within the time that the adapter documents.
 * `/readyz` also reads a page, looks up a key and tests the limits (`RateLimitStore.rehearse`), so adapters need this
 * check only if inserts can fail while those calls succeed.
 */
export const Readiness = Context.Reference<Effect.Effect<void, StoreUnavailable>>(
  "animal-store/core/ports/Readiness",
  { defaultValue: () => Effect.void }
)
