/** Converts keys for `--json`: times are epoch milliseconds, absent values are null, hashes are omitted. */
import type { ApiKey } from "../../embed/index.ts"
import * as KeyText from "./KeyText.ts"

/** Converts a key. `lastSeenDay` is a date in UTC, such as "2026-11-22". */
export const make = (key: ApiKey) => ({
  id: key.id,
  plan: key.plan,
  limits: key.limits,
  label: key.label ?? null,
  account: key.account ?? null,
  metadata: key.metadata ?? null,
  createdAt: key.createdAt,
  revokedAt: key.revokedAt ?? null,
  expiresAt: key.expiresAt ?? null,
  lastSeenDay: key.lastSeenDay === undefined ? null : KeyText.day(key.lastSeenDay),
  secrets: key.secrets.map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt: expiresAt ?? null }))
})
