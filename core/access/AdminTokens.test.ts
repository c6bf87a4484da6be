import { expect, it } from "@effect/vitest"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as MemoryApiKeyStore from "../../adapters/memory/MemoryApiKeyStore.ts"
import * as MemoryRateLimitStore from "../../adapters/memory/MemoryRateLimitStore.ts"
import * as Caller from "../limits/Caller.ts"
import { CountPer } from "../limits/CountPer.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { AdminTokenStore } from "../ports/AdminTokenStore.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as AdminTokens from "./AdminTokens.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"
import * as KeyStatus from "./KeyStatus.ts"

const crypto = Layer.merge(Digest.layerWebCrypto, SecureRandom.layerWebCrypto)
const environment = Layer.merge(Layer.fresh(MemoryApiKeyStore.layer), crypto)

const issueToken = AdminTokens.provide(KeyLifecycle.issue({ plan: AdminTokens.PLAN, label: "ada" }))

it.effect("issues a token whose secret is malformed where API keys are expected, and the reverse", () =>
  Effect.gen(function* () {
    const token = yield* issueToken
    const key = yield* KeyLifecycle.issue({ plan: "Free" })
    const [tokenSecret, keySecret] = [Redacted.value(token.secret), Redacted.value(key.secret)]
    expect([token.key.id, tokenSecret]).toEqual([
      expect.stringMatching(/^adm_\w{11}$/),
      expect.stringMatching(/^asa_\w{33}$/)
    ])
    expect(ApiKeySecret.parse(tokenSecret, "asa_")).toBeDefined()
    expect(ApiKeySecret.parse(tokenSecret, "ast_")).toBeUndefined()
    expect(ApiKeySecret.parse(keySecret, "asa_")).toBeUndefined()
    expect(yield* AdminTokens.provide(KeyLifecycle.list)).toEqual([token.key])
    expect(yield* KeyLifecycle.list).toEqual([key.key])
  }).pipe(Effect.provide(environment))
)

it.effect("fails if the stores keep no tokens, and issues no API key instead", () =>
  Effect.gen(function* () {
    const failure = yield* Effect.flip(Effect.provideService(issueToken, AdminTokenStore, undefined))
    expect(failure).toEqual(new AdminTokens.AdminTokensUnsupported())
    expect(yield* KeyLifecycle.list).toEqual([])
  }).pipe(Effect.provide(environment))
)

it.effect("calls a token by its name in the messages of all failures", () =>
  Effect.gen(function* () {
    const { key } = yield* issueToken
    yield* AdminTokens.provide(KeyLifecycle.rotate(key.id, 60_000))
    const unfinished = yield* Effect.flip(AdminTokens.provide(KeyLifecycle.rotate(key.id, 60_000)))
    expect(unfinished.message).toMatch(`the admin token ${key.id} is being rotated`)
    yield* AdminTokens.provide(KeyLifecycle.revoke(key.id))
    const revoked = yield* Effect.flip(AdminTokens.provide(KeyLifecycle.rotate(key.id, 0)))
    expect(revoked.message).toBe(`the admin token ${key.id} is revoked`)
    const unknown = yield* Effect.flip(AdminTokens.provide(KeyLifecycle.revoke("adm_none")))
    expect(unknown.message).toBe("the admin token adm_none does not exist")
  }).pipe(Effect.provide(environment))
)

it.effect("counts a token apart from the API keys of its account", () =>
  Effect.gen(function* () {
    const account = "acme"
    const token = yield* AdminTokens.provide(KeyLifecycle.issue({ plan: AdminTokens.PLAN, account }))
    const { key } = yield* KeyLifecycle.issue({ plan: "Free", account })
    const { modify } = yield* RateLimitStore
    const banned = { ...RateLimit.initial(0, key.limits), used: 7, bannedUntil: 60_000 }
    yield* modify(Caller.ofAccount(account), () => [undefined, banned])
    const [listed] = yield* AdminTokens.provide(KeyStatus.list())
    expect(listed?.usage).toMatchObject({ day: { used: 0 }, bannedUntil: undefined })
    yield* AdminTokens.provide(KeyStatus.unban(token.key.id))
    expect((yield* KeyStatus.show(key.id)).usage.bannedUntil).toBe(60_000)
  }).pipe(
    Effect.provideService(CountPer, "account"),
    Effect.provide(Layer.merge(environment, MemoryRateLimitStore.layer))
  )
)
