/** The record of an API key: who may send how much, and by which secrets it is known (contract §5, gaps). */

import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Plan, PlanName } from "../limits/Plan.ts"

/** Limits, bans and revocation belong to the record, so its secrets share them. Times are epoch milliseconds. */
export interface ApiKey {
  /** Public identifier, safe to log. */
  readonly id: string
  readonly plan: PlanName
  readonly limits: Plan
  readonly label: string | undefined
  readonly createdAt: number
  readonly revokedAt: number | undefined
  /** The newest first; two while the key is being rotated. */
  readonly secrets: ReadonlyArray<StoredSecret>
}

/** What is kept of a secret. Times are epoch milliseconds. */
export interface StoredSecret {
  /** SHA-256 of the secret, lower-case hexadecimal. */
  readonly hash: string
  readonly createdAt: number
  /** When the secret stops to be accepted; `undefined` for the current one. */
  readonly expiresAt: number | undefined
}

/** The key is revoked, which is final. */
export class ApiKeyRevoked extends Data.TaggedError("ApiKeyRevoked")<{ readonly id: string }> {
  override get message(): string {
    return `the API key ${this.id} is revoked`
  }
}

/** Whether the secret with this hash opens the key at `now`. */
export const accepts = (key: ApiKey, hash: string, now: number): boolean =>
  key.revokedAt === undefined &&
  key.secrets.some(
    (secret) => secret.hash === hash && (secret.expiresAt === undefined || now < secret.expiresAt)
  )

/**
 * The key with a new secret; the one it replaces is accepted for `overlapMs` more, an older one no longer, so there
 * are never more than two.
 */
export const rotate = (
  key: ApiKey,
  hash: string,
  overlapMs: number,
  now: number
): Result.Result<ApiKey, ApiKeyRevoked> => {
  if (key.revokedAt !== undefined) return Result.fail(new ApiKeyRevoked({ id: key.id }))
  const current = key.secrets.filter((secret) => secret.expiresAt === undefined)
  return Result.succeed({
    ...key,
    secrets: [
      { hash, createdAt: now, expiresAt: undefined },
      ...current.map((secret) => ({ ...secret, expiresAt: now + overlapMs }))
    ]
  })
}

/** The key, refused from `now` on; a key that is already revoked keeps its first date. */
export const revoke = (key: ApiKey, now: number): ApiKey => ({ ...key, revokedAt: key.revokedAt ?? now })
