/** Defines the port for the storage of admin tokens. */
import * as Context from "effect/Context"
import type { ApiKeyStore } from "./ApiKeyStore.ts"

/**
 * Stores the tokens of administrators as keys, apart from API keys: no method of either store finds keys of the other.
 * Changes apply immediately. Optional: without it, the service has no admin API.
 */
export const AdminTokenStore = Context.Reference<ApiKeyStore["Service"] | undefined>(
  "animal-store/core/ports/AdminTokenStore",
  { defaultValue: () => undefined }
)
