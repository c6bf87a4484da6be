/** Issues, rotates, revokes and lists API keys (contract §5.4, a gap). */
import * as Clock from "effect/Clock"
import type * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as PetName from "../domain/PetName.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as OwnPlans from "../limits/OwnPlans.ts"
import * as Plan from "../limits/Plan.ts"
import * as Duration from "../options/Duration.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { Actor } from "./Actor.ts"
import * as ApiKey from "./ApiKey.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as Base62 from "./Base62.ts"
import * as Expiry from "./Expiry.ts"
import * as KeyEvent from "./KeyEvent.ts"
import * as Metadata from "./Metadata.ts"
import { nounOf, Realm } from "./Realm.ts"

/** No key has this id. */
export class ApiKeyUnknown extends Data.TaggedError("ApiKeyUnknown")<{
  readonly id: string
  /** What keys of the kind are called. */
  readonly noun: string
}> {
  override get message(): string {
    return `the ${this.noun} ${this.id} does not exist`
  }
}

/** The plan and its overrides give invalid limits. */
export class PlanInvalid extends Data.TaggedError("PlanInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The label is invalid; labels follow the rules of `PetName`. */
export class LabelInvalid extends Data.TaggedError("LabelInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return `label ${this.reason}`
  }
}

/** The account is invalid; accounts follow the rules of `PetName`. */
export class AccountInvalid extends Data.TaggedError("AccountInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return `account ${this.reason}`
  }
}

/** A key with its secret, which cannot be retrieved later. */
export interface IssuedKey {
  readonly key: ApiKey.ApiKey
  readonly secret: Redacted.Redacted<string>
}

/**
 * Parses an overlap as operators write it, such as `0` or `24h`; at most ten years.
 *
 * @internal
 */
export const parseOverlap = Duration.parse(0, 3_650 * 24 * 60 * 60 * 1_000)

/** The overlap of a rotation is not a non-negative integer. */
export class OverlapInvalid extends Data.TaggedError("OverlapInvalid")<{ readonly overlapMs: number }> {
  override get message(): string {
    return "overlapMs must be a whole number of milliseconds, 0 or more"
  }
}

/** The rotation would end a secret that an earlier rotation left valid. Times are in epoch milliseconds. */
export class RotationUnfinished extends Data.TaggedError("RotationUnfinished")<{
  readonly id: string
  readonly secretCreatedAt: number
  readonly secretExpiresAt: number
}> {
  override get message(): string {
    return `the ${nounOf(this.id)} ${this.id} is being rotated: another rotation would end a secret that still works`
  }
}

/** The plan of a new key, and its optional fields. */
export interface IssueOptions {
  readonly plan: Plan.PlanName
  /** Overrides of the plan's limits; required for a plan without default limits, such as Enterprise; not for own plans. */
  readonly limits?:
    | { readonly perMinute?: number | undefined; readonly perDay?: number | undefined }
    | undefined
  /** A name for operators; not unique, never sent to clients. `null`: none. */
  readonly label?: string | null | undefined
  /** The account to which the key belongs, such as the id of a customer; several keys can have the same. `null`: none. */
  readonly account?: string | null | undefined
  /** A JSON object of at most 4096 bytes, for the operator's own programs; never sent to clients. `null`: none. */
  readonly metadata?: Metadata.Metadata | null | undefined
  /** The expiry of the key, which must be in the future; by default, the key never expires. */
  readonly expires?: Expiry.Expiry | undefined
}

/**
 * Returns the limits of a key: the limits of the plan (contract §8.2) with the overrides in `limits`, or those of an own
 * plan, which has no overrides. Fails if the plan is unknown or the resulting limits are invalid.
 *
 * @internal
 */
export const limitsOf = (
  { limits, plan }: Pick<IssueOptions, "limits" | "plan">,
  ownPlans: OwnPlans.OwnPlans = {}
): Result.Result<Plan.Plan, PlanInvalid> => {
  const own = OwnPlans.limitsOf(ownPlans, plan)
  if (own !== undefined) {
    return Object.keys(withoutUndefined(limits)).length === 0
      ? Result.succeed(own)
      : Result.fail(new PlanInvalid({ reason: `all keys of the plan ${plan} have its limits` }))
  }
  if (!Plan.isStandard(plan)) {
    const known = [...Plan.names, ...Object.keys(ownPlans)].join(", ")
    return Result.fail(new PlanInvalid({ reason: `plan must be one of ${known}` }))
  }
  const numbers = { ...Plan.standard[plan], ...withoutUndefined(limits) }
  if (!("perMinute" in numbers && "perDay" in numbers)) {
    return Result.fail(new PlanInvalid({ reason: `${plan} needs both perMinute and perDay` }))
  }
  return Result.mapError(
    Schema.decodeUnknownResult(Plan.Plan)(numbers),
    () =>
      new PlanInvalid({ reason: `perMinute and perDay must be integers between 1 and ${Plan.maxRequests}` })
  )
}

/**
 * Returns the limits without the fields that are `undefined`.
 *
 * @internal
 */
export const withoutUndefined = (limits: IssueOptions["limits"]) => ({
  ...(limits?.perMinute === undefined ? undefined : { perMinute: limits.perMinute }),
  ...(limits?.perDay === undefined ? undefined : { perDay: limits.perDay })
})

/** Why a key cannot be issued. */
export type IssueFailure =
  | AccountInvalid
  | Expiry.ExpiryInvalid
  | LabelInvalid
  | Metadata.MetadataInvalid
  | PlanInvalid

/** Issues a key and returns its secret, which cannot be retrieved later. */
export const issue = Effect.fn("KeyLifecycle.issue")(function* (
  options: IssueOptions
): Effect.fn.Return<
  IssuedKey,
  IssueFailure | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  const issued = yield* newKey(options)
  yield* (yield* ApiKeyStore).insert(issued.key, yield* issueEvent(issued.key))
  return issued
})

/**
 * Issues a key if the store has no keys, otherwise returns `None`. If several processes start on an empty store at the
 * same time, only one issues a key.
 */
export const issueFirst = Effect.fn("KeyLifecycle.issueFirst")(function* (
  options: IssueOptions
): Effect.fn.Return<
  Option.Option<IssuedKey>,
  IssueFailure | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  const issued = yield* newKey(options)
  const isFirst = yield* (yield* ApiKeyStore).insertFirst(issued.key, yield* issueEvent(issued.key))
  return isFirst ? Option.some(issued) : Option.none()
})

const issueEvent = (key: ApiKey.ApiKey): Effect.Effect<KeyEvent.KeyEvent> =>
  Effect.map(Actor, (actor) => ({
    at: key.createdAt,
    actor,
    keyId: key.id,
    action: "issued",
    changes: KeyEvent.changesBetween(undefined, key)
  }))

/** The fields of a key that have no effect of their own: they are for operators and their programs. */
type Fields = Pick<ApiKey.ApiKey, "label" | "account" | "metadata">

const noFields: Fields = { label: undefined, account: undefined, metadata: undefined }

/** A change of these fields: absent ones stay as they are, and `null` removes a value. */
export type FieldChange = { readonly [field in keyof Fields]?: Fields[field] | null }

/**
 * Returns the fields after a change; fails if one is invalid.
 *
 * @internal
 */
export const changedFields = (
  before: Fields,
  { account, label, metadata }: FieldChange
): Result.Result<Fields, AccountInvalid | LabelInvalid | Metadata.MetadataInvalid> =>
  Result.gen(function* () {
    return {
      label: yield* changed(before.label, label, validLabel),
      account: yield* changed(before.account, account, validAccount),
      metadata: yield* changed(before.metadata, metadata, Metadata.valid)
    }
  })

const validLabel = (label: string): Result.Result<string, LabelInvalid> => {
  const reason = PetName.problem(label)
  return reason === undefined ? Result.succeed(label) : Result.fail(new LabelInvalid({ reason }))
}

const validAccount = (account: string): Result.Result<string, AccountInvalid> => {
  const reason = PetName.problem(account)
  return reason === undefined ? Result.succeed(account) : Result.fail(new AccountInvalid({ reason }))
}

const changed = <A, E>(
  before: A | undefined,
  given: A | null | undefined,
  valid: (value: A) => Result.Result<A, E>
): Result.Result<A | undefined, E> =>
  given == null ? Result.succeed(given === null ? undefined : before) : valid(given)

const newKey = Effect.fnUntraced(function* (
  options: IssueOptions
): Effect.fn.Return<IssuedKey, IssueFailure, Digest.Digest | SecureRandom.SecureRandom> {
  const limits = yield* Effect.fromResult(limitsOf(options, yield* OwnPlans.OwnPlans))
  const fields = yield* Effect.fromResult(changedFields(noFields, options))
  const createdAt = yield* Clock.currentTimeMillis
  const expiresAt = yield* Effect.fromResult(Expiry.resolveFuture(options.expires ?? "never", createdAt))
  const { hash, secret } = yield* newSecret
  const key: ApiKey.ApiKey = {
    id: yield* newId,
    plan: options.plan,
    limits,
    ...fields,
    createdAt,
    revokedAt: undefined,
    expiresAt,
    lastSeenDay: undefined,
    secrets: [{ hash, createdAt, expiresAt: undefined }]
  }
  return { key, secret }
})

/**
 * Issues a new secret for the key; the previous secret expires after `overlapMs` milliseconds (an integer, 0 or more).
 * Both secrets share the limits and bans of the key. A secret that an earlier rotation left valid ends; unless `force`
 * is true, fails with `RotationUnfinished` instead.
 */
export const rotate = Effect.fn("KeyLifecycle.rotate")(function* (
  id: string,
  overlapMs: number,
  force?: boolean
): Effect.fn.Return<
  IssuedKey,
  ApiKey.ApiKeyRevoked | ApiKeyUnknown | OverlapInvalid | RotationUnfinished | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  if (!(Number.isSafeInteger(overlapMs) && overlapMs >= 0)) return yield* new OverlapInvalid({ overlapMs })
  const { hash, secret } = yield* newSecret
  const now = yield* Clock.currentTimeMillis
  const actor = yield* Actor
  type Rotation = Result.Result<ApiKey.ApiKey, ApiKey.ApiKeyRevoked | RotationUnfinished>
  const rotated = yield* (yield* ApiKeyStore).update<Rotation>(id, (key) => {
    const older = key.secrets.find(({ expiresAt }) => expiresAt !== undefined)
    if (force !== true && older?.expiresAt !== undefined && ApiKey.accepts(key, older.hash, now)) {
      const { createdAt: secretCreatedAt, expiresAt: secretExpiresAt } = older
      return [Result.fail(new RotationUnfinished({ id, secretCreatedAt, secretExpiresAt })), key]
    }
    const result = ApiKey.rotate(key, hash, overlapMs, now)
    if (Result.isFailure(result)) return [result, key]
    const changes = { oldKeyExpiresAt: { from: null, to: now + overlapMs } }
    return [result, result.success, { at: now, actor, keyId: id, action: "rotated", changes }]
  })
  const key = yield* Effect.fromResult(yield* orUnknown(id, rotated))
  return { key: OwnPlans.current(yield* OwnPlans.OwnPlans, key), secret }
})

/** Revokes the key; revoking it again has no effect. */
export const revoke = Effect.fn("KeyLifecycle.revoke")(function* (
  id: string
): Effect.fn.Return<ApiKey.ApiKey, ApiKeyUnknown | StoreUnavailable, ApiKeyStore> {
  const now = yield* Clock.currentTimeMillis
  const actor = yield* Actor
  const revoked = yield* (yield* ApiKeyStore).update(id, (key) => {
    if (key.revokedAt !== undefined) return [key, key]
    const result = ApiKey.revoke(key, now)
    const changes = KeyEvent.changesBetween(key, result)
    return [result, result, { at: now, actor, keyId: id, action: "revoked", changes }]
  })
  return OwnPlans.current(yield* OwnPlans.OwnPlans, yield* orUnknown(id, revoked))
})

/** Returns all keys, oldest first, with the hashes of their secrets. */
export const list = Effect.gen(function* () {
  const plans = yield* OwnPlans.OwnPlans
  const keys = yield* (yield* ApiKeyStore).list
  return keys.map((key) => OwnPlans.current(plans, key))
})

/**
 * Returns the value of `result`, or fails with `ApiKeyUnknown` if it is `None`.
 *
 * @internal
 */
export const orUnknown = <A>(id: string, result: Option.Option<A>): Effect.Effect<A, ApiKeyUnknown> =>
  Option.isSome(result)
    ? Effect.succeed(result.value)
    : Effect.flatMap(Realm, ({ noun }) => new ApiKeyUnknown({ id, noun }))

/**
 * Finds a key by its id, if need be among all keys: an update that changes nothing would lock, and need the right to
 * write.
 *
 * @internal
 */
export const find = Effect.fnUntraced(function* (id: string) {
  const store = yield* ApiKeyStore
  const found =
    store.find === undefined
      ? Option.fromUndefinedOr((yield* store.list).find((key) => key.id === id))
      : yield* store.find(id)
  return OwnPlans.current(yield* OwnPlans.OwnPlans, yield* orUnknown(id, found))
})

const newSecret = Effect.gen(function* () {
  const secret = yield* ApiKeySecret.generate
  return { secret, hash: yield* ApiKeySecret.hash(Redacted.value(secret)) }
})

const newId = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return (yield* Realm).idPrefix + Base62.encodeBytes(yield* random.randomBytes(8), 11)
})
