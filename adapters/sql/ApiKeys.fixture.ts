/** Creates API keys for tests. */
import type * as ApiKey from "../../core/access/ApiKey.ts"
import * as Plan from "../../core/limits/Plan.ts"

/** Returns a key with one secret. */
export const keyOf = (id: string, hash: string, createdAt: number): ApiKey.ApiKey => ({
  id,
  plan: "Free",
  limits: Plan.standard.Free,
  label: undefined,
  account: undefined,
  metadata: undefined,
  createdAt,
  revokedAt: undefined,
  expiresAt: undefined,
  lastSeenDay: undefined,
  secrets: [{ hash, createdAt, expiresAt: undefined }]
})
