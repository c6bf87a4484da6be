/** Provides the administration of API keys as functions that return promises. */
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import * as KeyChange from "../../core/access/KeyChange.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as KeyStatus from "../../core/access/KeyStatus.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Arguments from "./Arguments.ts"

/** A key that was just issued or rotated; `key` is the secret, which cannot be retrieved later. */
export interface IssuedApiKey
  extends Pick<ApiKey, "id" | "plan" | "limits" | "label" | "account" | "metadata" | "expiresAt"> {
  readonly key: string
  /** Epoch milliseconds at which the previous secret expires; `undefined` for a new key. */
  readonly oldKeyExpiresAt: number | undefined
}

/**
 * Administration of keys. All methods reject with `InvalidOption` if an argument is unknown or has the wrong type, and
 * with `StoreUnavailable` if the database is unavailable.
 */
export interface Keys {
  /**
   * Issues a key. Rejects with `PlanInvalid` if the plan and the overrides give invalid limits, with `LabelInvalid`,
   * `AccountInvalid`, `MetadataInvalid` or `ExpiryInvalid`.
   */
  readonly issue: (options: KeyLifecycle.IssueOptions) => Promise<IssuedApiKey>
  /**
   * Issues a key if the store has none, otherwise returns `undefined`. If several processes start on an empty store at
   * the same time, only one issues a key.
   */
  readonly issueFirst: (options: KeyLifecycle.IssueOptions) => Promise<IssuedApiKey | undefined>
  /** Returns all keys, or those of an account, oldest first, with their usage and the hashes of their secrets. */
  readonly list: (options?: KeyStatus.ListOptions) => Promise<ReadonlyArray<KeyStatus.KeyStatus>>
  /** Returns a key with its usage. Rejects with `ApiKeyUnknown`. */
  readonly show: (id: string) => Promise<KeyStatus.KeyStatus>
  /**
   * Returns the key that accepts this secret, with its usage, or `undefined` if the secret is malformed, unknown, expired
   * or revoked. Counts no request. A revocation in another process applies within `keyCacheMs`.
   */
  readonly verify: (secret: string) => Promise<KeyStatus.KeyStatus | undefined>
  /**
   * Changes the plan, limits, label, account, metadata or expiry of the key and returns its record. Other processes apply
   * the change within their `keyCacheMs`. Rejects with `ApiKeyUnknown`, `ApiKeyRevoked`, or the errors of `issue`.
   */
  readonly set: (id: string, change: KeyChange.KeyChange) => Promise<ApiKey>
  /**
   * Lifts the ban of the key and clears its strikes, immediately in all processes. Returns the key as it was before.
   * Rejects with `ApiKeyUnknown` or `ApiKeyRevoked`.
   */
  readonly unban: (id: string) => Promise<KeyStatus.KeyStatus>
  /**
   * Issues a new secret for the key; the old one expires after `overlapMs` milliseconds (0 or more). Rejects with
   * `ApiKeyUnknown`, `ApiKeyRevoked`, `OverlapInvalid`, or, unless `force` is true, with `RotationUnfinished` if this
   * would end a secret that an earlier rotation left valid.
   */
  readonly rotate: (id: string, options: Arguments.RotateOptions) => Promise<IssuedApiKey>
  /** Revokes the key and returns its record. Rejects with `ApiKeyUnknown`. */
  readonly revoke: (id: string) => Promise<ApiKey>
  /** Returns the recorded actions on a key, or on all keys without `id`, oldest first. Rejects with `ApiKeyUnknown`. */
  readonly log: (id?: string) => Promise<ReadonlyArray<KeyEvent>>
}

/** The services that the functions use. */
export type Services = ApiKeyStore | RateLimitStore | Digest.Digest | SecureRandom.SecureRandom

/** Runs a program with these services. */
export type Run = <A, E>(program: Effect.Effect<A, E, Services>) => Promise<A>

/** Creates the functions. */
export const make = (run: Run): Keys => makeWith(async (program) => structuredClone(await run(program)))

// `run` returns copies: a store in memory returns its own objects, which a program could change.
const makeWith = (run: Run): Keys => ({
  issue: (options) =>
    run(Arguments.ofIssue(options).pipe(Effect.flatMap(KeyLifecycle.issue), Effect.map(toIssued))),
  issueFirst: (options) =>
    run(
      Effect.map(Effect.flatMap(Arguments.ofIssue(options), KeyLifecycle.issueFirst), (first) =>
        Option.getOrUndefined(Option.map(first, toIssued))
      )
    ),
  list: (options) => run(Effect.flatMap(Arguments.ofList(options), KeyStatus.list)),
  show: (id) => run(Effect.flatMap(Arguments.ofId(id), KeyStatus.show)),
  verify: (secret) => run(Effect.flatMap(Arguments.ofSecret(secret), KeyStatus.verify)),
  set: (id, change) =>
    run(Effect.flatMap(Arguments.ofSet(id, change), (checked) => KeyChange.change(...checked))),
  unban: (id) => run(Effect.flatMap(Arguments.ofId(id), KeyStatus.unban)),
  rotate: (id, options) =>
    run(
      Effect.flatMap(Arguments.ofRotate(id, options), (checked) =>
        Effect.map(KeyLifecycle.rotate(...checked), toIssued)
      )
    ),
  revoke: (id) => run(Effect.flatMap(Arguments.ofId(id), KeyLifecycle.revoke)),
  log: (id) => run(id === undefined ? KeyStatus.log() : Effect.flatMap(Arguments.ofId(id), KeyStatus.log))
})

const toIssued = ({ key, secret }: KeyLifecycle.IssuedKey): IssuedApiKey => ({
  id: key.id,
  plan: key.plan,
  limits: key.limits,
  label: key.label,
  account: key.account,
  metadata: key.metadata,
  expiresAt: key.expiresAt,
  key: Redacted.value(secret),
  oldKeyExpiresAt: key.secrets[1]?.expiresAt
})
