/** Issues, lists and revokes the tokens of administrators. */
import * as Clock from "effect/Clock"
import type * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { Actor } from "./Actor.ts"
import { type AdminToken, PREFIX } from "./AdminToken.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as Base62 from "./Base62.ts"
import * as Expiry from "./Expiry.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"

/** A token with its secret, which cannot be retrieved later. */
export interface IssuedToken {
  readonly token: AdminToken
  readonly secret: Redacted.Redacted<string>
}

/** The options of a new token. */
export interface IssueOptions {
  /** By default, the name of the actor. */
  readonly name?: string | undefined
  /** By default, the token never expires. */
  readonly expires?: Expiry.Expiry | undefined
}

/** No token has this id. */
export class AdminTokenUnknown extends Data.TaggedError("AdminTokenUnknown")<{ readonly id: string }> {
  override get message(): string {
    return `the admin token ${this.id} does not exist`
  }
}

/** The store of the program keeps no tokens, so the admin API is not available. */
export class AdminTokensUnsupported extends Data.TaggedError("AdminTokensUnsupported") {
  override get message(): string {
    return "these stores keep no admin tokens"
  }
}

/** Returns the store of tokens. */
export const store = Effect.flatMap(ApiKeyStore, ({ adminTokens }) =>
  adminTokens === undefined ? Effect.fail(new AdminTokensUnsupported()) : Effect.succeed(adminTokens)
)

/** Issues a token and returns its secret, which cannot be retrieved later. */
export const issue = Effect.fn("AdminTokens.issue")(function* ({
  expires = "never",
  name
}: IssueOptions): Effect.fn.Return<
  IssuedToken,
  AdminTokensUnsupported | Expiry.ExpiryInvalid | KeyLifecycle.LabelInvalid | StoreUnavailable,
  ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom
> {
  const validName = yield* Effect.fromResult(KeyLifecycle.validLabel(name ?? (yield* Actor)))
  const createdAt = yield* Clock.currentTimeMillis
  const expiresAt = yield* Effect.fromResult(Expiry.resolveFuture(expires, createdAt))
  const secret = yield* ApiKeySecret.generateFor(PREFIX)
  const id = yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(8))
  const token: AdminToken = {
    id: `adm_${Base62.encodeBytes(id, 11)}`,
    name: validName,
    hash: yield* ApiKeySecret.hash(Redacted.value(secret)),
    createdAt,
    expiresAt,
    revokedAt: undefined
  }
  yield* (yield* store).insert(token)
  return { token, secret }
})

/** Returns all tokens, oldest first. */
export const list = Effect.flatMap(store, (tokens) => tokens.list)

/** Revokes a token immediately and returns it; revoking it again has no effect. */
export const revoke = Effect.fn("AdminTokens.revoke")(function* (
  id: string
): Effect.fn.Return<AdminToken, AdminTokensUnsupported | AdminTokenUnknown | StoreUnavailable, ApiKeyStore> {
  yield* (yield* store).revoke(id, yield* Clock.currentTimeMillis)
  const revoked = (yield* list).find((token) => token.id === id)
  return revoked ?? (yield* new AdminTokenUnknown({ id }))
})
