/** Provides the administration of admin tokens as functions that return promises. */
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AdminToken } from "../../core/access/AdminToken.ts"
import * as Tokens from "../../core/access/AdminTokens.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import * as Arguments from "./Arguments.ts"

/** A token that was just issued; `token` is the secret, which cannot be retrieved later. */
export interface IssuedAdminToken extends Pick<AdminToken, "id" | "name" | "expiresAt"> {
  readonly token: string
}

/**
 * Administration of the tokens that open the admin API. All methods reject with `InvalidOption`, with `StoreUnavailable`,
 * and with `AdminTokensUnsupported` if the stores of the program keep no tokens.
 */
export interface AdminTokens {
  /** Issues a token. Rejects with `LabelInvalid` or `ExpiryInvalid`. */
  readonly issue: (options?: Tokens.IssueOptions) => Promise<IssuedAdminToken>
  /** Returns all tokens, oldest first, with the hashes of their secrets. */
  readonly list: () => Promise<ReadonlyArray<AdminToken>>
  /** Revokes a token immediately, and returns it. Rejects with `AdminTokenUnknown`. */
  readonly revoke: (id: string) => Promise<AdminToken>
}

type Services = ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom

type Run = <A, E>(program: Effect.Effect<A, E, Services>) => Promise<A>

/** Creates the functions. `run` runs an Effect program with the services of the store. */
export const make = (run: Run): AdminTokens =>
  makeWith(async (program) => structuredClone(await run(program)))

// `run` returns copies, as that of `Keys` does.
const makeWith = (run: Run): AdminTokens => ({
  issue: (options) =>
    run(
      Effect.map(
        Effect.flatMap(Arguments.ofToken(options), Tokens.issue),
        ({ secret, token: { expiresAt, id, name } }) => ({
          id,
          name,
          expiresAt,
          token: Redacted.value(secret)
        })
      )
    ),
  list: () => run(Tokens.list),
  revoke: (id) => run(Effect.flatMap(Arguments.ofId(id), Tokens.revoke))
})
