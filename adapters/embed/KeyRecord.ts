/** Converts keys to JSON: times are epoch milliseconds, absent values are null, hashes are omitted. */
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyStatus } from "../../core/access/KeyStatus.ts"
import type { IssuedApiKey } from "./Keys.ts"

const DAY_MS = 24 * 60 * 60 * 1_000

/** Formats a number of days since 1970-01-01 UTC as a date, such as "2026-11-22". */
export const day = (days: number): string => new Date(days * DAY_MS).toISOString().slice(0, 10)

/** Converts a key. `lastSeenDay` is a date in UTC. */
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
  lastSeenDay: key.lastSeenDay === undefined ? null : day(key.lastSeenDay),
  secrets: key.secrets.map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt: expiresAt ?? null }))
})

/** Converts a key with its usage. */
export const withUsage = (key: KeyStatus) => {
  const { bannedUntil = null, ...usage } = key.usage
  return { ...make(key), ...usage, bannedUntil }
}

/** Converts a key that was issued or rotated, with its secret. */
export const issued = (key: IssuedApiKey) => {
  const { account = null, expiresAt = null, label = null, metadata = null, oldKeyExpiresAt = null } = key
  return { ...key, label, account, metadata, expiresAt, oldKeyExpiresAt }
}
