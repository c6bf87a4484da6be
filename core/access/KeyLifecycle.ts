/** Programs that issue, rotate and revoke API keys (contract §5.4, a gap); there is no HTTP administration. */
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
import * as Plan from "../limits/Plan.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as ApiKey from "./ApiKey.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as Base62 from "./Base62.ts"

/** There is no key with this id. */
export class ApiKeyUnknown extends Data.TaggedError("ApiKeyUnknown")<{ readonly id: string }> {
  override get message(): string {
    return `there is no API key ${this.id}`
  }
}

/** The plan and the numbers asked for make no limits; `reason` says why. */
export class PlanInvalid extends Data.TaggedError("PlanInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The label is no text of 1 to 255 characters that every store keeps alike; `reason` says why. */
export class LabelInvalid extends Data.TaggedError("LabelInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return `label ${this.reason}`
  }
}

/** A key together with its secret, which is known at this moment only. */
export interface IssuedKey {
  readonly key: ApiKey.ApiKey
  readonly secret: Redacted.Redacted<string>
}

/** The overlap of a rotation is no whole number of milliseconds, 0 or more. */
export class OverlapInvalid extends Data.TaggedError("OverlapInvalid")<{ readonly overlapMs: number }> {
  override get message(): string {
    return "overlapMs must be a whole number of milliseconds, 0 or more"
  }
}

/** What a key is issued for. */
export interface IssueOptions {
  readonly plan: Plan.PlanName
  /** Numbers that replace the plan's; Enterprise has none of its own and needs both. */
  readonly limits?:
    | { readonly perMinute?: number | undefined; readonly perDay?: number | undefined }
    | undefined
  /** A name for people; not unique, never shown to clients. */
  readonly label?: string | undefined
}

/** The limits of a key: the plan's numbers of contract §8.2, replaced where `limits` says so. */
export const limitsOf = ({ plan, limits }: IssueOptions): Result.Result<Plan.Plan, PlanInvalid> => {
  if (!Plan.names.includes(plan)) {
    return Result.fail(new PlanInvalid({ reason: `plan must be one of ${Plan.names.join(", ")}` }))
  }
  const numbers = { ...(plan === "Enterprise" ? {} : Plan.standard[plan]), ...definedOf(limits) }
  if (!("perMinute" in numbers && "perDay" in numbers)) {
    return Result.fail(new PlanInvalid({ reason: "Enterprise needs both perMinute and perDay" }))
  }
  return Result.mapError(
    Schema.decodeUnknownResult(Plan.Plan)(numbers),
    () =>
      new PlanInvalid({ reason: `perMinute and perDay must be integers between 1 and ${Plan.maxRequests}` })
  )
}

const definedOf = (limits: IssueOptions["limits"]) => ({
  ...(limits?.perMinute === undefined ? undefined : { perMinute: limits.perMinute }),
  ...(limits?.perDay === undefined ? undefined : { perDay: limits.perDay })
})

/** Issues a key. The secret is returned here and nowhere else. */
export const issue = Effect.fn("KeyLifecycle.issue")(function* (
  options: IssueOptions
): Effect.fn.Return<
  IssuedKey,
  LabelInvalid | PlanInvalid | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  const issued = yield* newKey(options)
  yield* (yield* ApiKeyStore).insert(issued.key)
  return issued
})

/** Issues a key if there is none yet: of several processes that start on an empty store at once, one gets a key. */
export const issueFirst = Effect.fn("KeyLifecycle.issueFirst")(function* (
  options: IssueOptions
): Effect.fn.Return<
  Option.Option<IssuedKey>,
  LabelInvalid | PlanInvalid | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  const issued = yield* newKey(options)
  return (yield* (yield* ApiKeyStore).insertFirst(issued.key)) ? Option.some(issued) : Option.none()
})

const newKey = Effect.fnUntraced(function* (
  options: IssueOptions
): Effect.fn.Return<IssuedKey, LabelInvalid | PlanInvalid, Digest.Digest | SecureRandom.SecureRandom> {
  const limits = yield* Effect.fromResult(limitsOf(options))
  const labelFault = options.label === undefined ? undefined : PetName.fault(options.label)
  if (labelFault !== undefined) return yield* new LabelInvalid({ reason: labelFault })
  const { hash, secret } = yield* newSecret
  const createdAt = yield* Clock.currentTimeMillis
  const key: ApiKey.ApiKey = {
    id: yield* newId,
    plan: options.plan,
    limits,
    label: options.label,
    createdAt,
    revokedAt: undefined,
    secrets: [{ hash, createdAt, expiresAt: undefined }]
  }
  return { key, secret }
})

/** Gives the key a new secret; the old one is accepted for `overlapMs` (0 or more) more. Both share limits and bans. */
export const rotate = Effect.fn("KeyLifecycle.rotate")(function* (
  id: string,
  overlapMs: number
): Effect.fn.Return<
  IssuedKey,
  ApiKey.ApiKeyRevoked | ApiKeyUnknown | OverlapInvalid | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  if (!(Number.isSafeInteger(overlapMs) && overlapMs >= 0)) return yield* new OverlapInvalid({ overlapMs })
  const { hash, secret } = yield* newSecret
  const now = yield* Clock.currentTimeMillis
  const rotated = yield* (yield* ApiKeyStore).update(id, (key) => {
    const result = ApiKey.rotate(key, hash, overlapMs, now)
    return [result, Result.getOrElse(result, () => key)]
  })
  return { key: yield* Effect.fromResult(yield* known(id, rotated)), secret }
})

/** Refuses the key from now on; doing so twice changes nothing. */
export const revoke = Effect.fn("KeyLifecycle.revoke")(function* (
  id: string
): Effect.fn.Return<ApiKey.ApiKey, ApiKeyUnknown | StoreUnavailable, ApiKeyStore> {
  const now = yield* Clock.currentTimeMillis
  const revoked = yield* (yield* ApiKeyStore).update(id, (key) => {
    const result = ApiKey.revoke(key, now)
    return [result, result]
  })
  return yield* known(id, revoked)
})

/** All keys, oldest first; of their secrets only what is stored, the hashes. */
export const list = Effect.flatMap(ApiKeyStore, (store) => store.list)

const known = <A>(id: string, found: Option.Option<A>): Effect.Effect<A, ApiKeyUnknown> =>
  Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(new ApiKeyUnknown({ id }))

const newSecret = Effect.gen(function* () {
  const secret = yield* ApiKeySecret.generate
  return { secret, hash: yield* ApiKeySecret.hash(Redacted.value(secret)) }
})

const newId = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return `key_${Base62.encodeBytes(yield* random.randomBytes(8), 11)}`
})
