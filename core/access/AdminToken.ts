/** Defines the tokens of administrators, which open the admin API and nothing else. */
import type { ApiKey } from "./ApiKey.ts"
import type { Prefix } from "./ApiKeySecret.ts"

/** A token. Times are in epoch milliseconds. */
export interface AdminToken {
  /** Public identifier, such as `adm_5BKLi8DbtKY`. */
  readonly id: string
  /** Recorded as the actor of the events of its requests; not unique, and valid as a label. */
  readonly name: string
  /** SHA-256 of the secret, lower-case hexadecimal. */
  readonly hash: string
  readonly createdAt: number
  /** When the token expires; `undefined` if it never does. */
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
}

/** The beginning of the secrets of tokens; no secret of an API key has it. */
export const PREFIX: Prefix = "asa_"

/**
 * Returns the token as the key of a service whose callers are administrators. Its limits only bound a mistake, such as a
 * script without a pause: a person does not reach them.
 *
 * @internal
 */
export const toKey = ({ createdAt, expiresAt, hash, id, name, revokedAt }: AdminToken): ApiKey => ({
  id,
  plan: "Admin",
  limits: { perMinute: 3_000, perDay: 1_000_000 },
  label: name,
  account: undefined,
  metadata: undefined,
  createdAt,
  revokedAt,
  expiresAt,
  lastSeenDay: undefined,
  secrets: [{ hash, createdAt, expiresAt: undefined }]
})
