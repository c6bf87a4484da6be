/** Defines API key records: limits, secrets, expiry and revocation (contract §5, gaps). */

import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Plan, PlanName } from "../limits/Plan.ts"
import type { Metadata } from "./Metadata.ts"
import { nounOf } from "./Realm.ts"

/** An API key. All its secrets share its limits, bans and revocation. Times are in epoch milliseconds. */
export interface ApiKey {
  /** Public identifier; safe to log. */
  readonly id: string
  readonly plan: PlanName
  readonly limits: Plan
  readonly label: string | undefined
  /** The account to which the key belongs, in the words of the operator; several keys can have the same. */
  readonly account: string | undefined
  readonly metadata: Metadata | undefined
  readonly createdAt: number
  readonly revokedAt: number | undefined
  /** When the key expires; `undefined` if it never does. */
  readonly expiresAt: number | undefined
  /** The latest day with a request, in days since 1970-01-01 UTC; `undefined` before the first request. */
  readonly lastSeenDay: number | undefined
  /** The secrets, newest first; two during a rotation. */
  readonly secrets: ReadonlyArray<StoredSecret>
}

/** A secret as stored. Times are in epoch milliseconds. */
export interface StoredSecret {
  /** SHA-256 of the secret, lower-case hexadecimal. */
  readonly hash: string
  readonly createdAt: number
  /** When the secret expires; `undefined` for the current secret. */
  readonly expiresAt: number | undefined
}

/** The key is revoked, which is final. */
export class ApiKeyRevoked extends Data.TaggedError("ApiKeyRevoked")<{ readonly id: string }> {
  override get message(): string {
    return `the ${nounOf(this.id)} ${this.id} is revoked`
  }
}

/** Returns whether the key has expired at `now`. */
export const isExpired = ({ expiresAt }: ApiKey, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now

/** Returns whether the key accepts the secret with this hash at `now`. */
export const accepts = (key: ApiKey, hash: string, now: number): boolean =>
  key.revokedAt === undefined &&
  !isExpired(key, now) &&
  key.secrets.some(
    (secret) => secret.hash === hash && (secret.expiresAt === undefined || now < secret.expiresAt)
  )

/**
 * Adds a new secret to the key. The previous secret expires after `overlapMs` milliseconds and older secrets are
 * removed, so a key never has more than two. Fails if the key is revoked.
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

/** Revokes the key at `now`; a key that is already revoked keeps its first revocation date. */
export const revoke = (key: ApiKey, now: number): ApiKey => ({ ...key, revokedAt: key.revokedAt ?? now })
