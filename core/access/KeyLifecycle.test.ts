import { inspect } from "node:util"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { it } from "@effect/vitest"
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect } from "vitest"
import * as MemoryApiKeyStore from "../../adapters/memory/MemoryApiKeyStore.ts"
import { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as Plan from "../limits/Plan.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as ApiKey from "./ApiKey.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"

const crypto = Layer.merge(NodeCrypto.layerSecureRandom, NodeCrypto.layerDigest)

/** A fresh store for each test. */
const environment = Layer.merge(Layer.fresh(MemoryApiKeyStore.layer), crypto)

/** Returns the id of the key that accepts this secret now. */
const keyIdOf = (secret: Redacted.Redacted<string>) =>
  Effect.gen(function* () {
    const hash = yield* ApiKeySecret.hash(Redacted.value(secret))
    const key = yield* (yield* ApiKeyStore).findByHash(hash)
    const now = yield* TestClock.testClockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe()))
    return Option.isSome(key) && ApiKey.accepts(key.value, hash, now) ? key.value.id : undefined
  })

describe("KeyLifecycle.issue", () => {
  it.effect("returns a key that is accepted immediately and has the plan's limits", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      const { key, secret } = yield* KeyLifecycle.issue({
        ...{ plan: "Pro", label: "shop", account: "acme", metadata: { crm: 7 } }
      })
      expect(key).toEqual({
        id: expect.stringMatching(/^key_[0-9A-Za-z]{11}$/),
        plan: "Pro",
        limits: Plan.standard.Pro,
        ...{ label: "shop", account: "acme", metadata: { crm: 7 } },
        createdAt: 1_800_000_000_000,
        revokedAt: undefined,
        expiresAt: undefined,
        lastSeenDay: undefined,
        secrets: [
          {
            hash: yield* ApiKeySecret.hash(Redacted.value(secret)),
            createdAt: 1_800_000_000_000,
            expiresAt: undefined
          }
        ]
      })
      expect(yield* keyIdOf(secret)).toBe(key.id)
      expect(yield* KeyLifecycle.list).toEqual([key])
    }).pipe(Effect.provide(environment))
  )

  it.effect("never reveals a secret in records, in the list or when printed", () =>
    Effect.gen(function* () {
      const issued = yield* KeyLifecycle.issue({ plan: "Free" })
      const rotated = yield* KeyLifecycle.rotate(issued.key.id, 1_000)
      const all = yield* KeyLifecycle.list
      for (const secret of [issued.secret, rotated.secret].map(Redacted.value)) {
        for (const value of [issued, issued.key, rotated, all]) {
          expect(JSON.stringify(value)).not.toContain(secret)
          expect(inspect(value, { depth: 20, showHidden: true })).not.toContain(secret)
          expect(JSON.stringify(value)).not.toContain(secret.slice(4, 31))
        }
      }
    }).pipe(Effect.provide(environment))
  )

  it.effect("creates unique ids and secrets", () =>
    Effect.gen(function* () {
      const issued = yield* Effect.replicateEffect(KeyLifecycle.issue({ plan: "Free" }), 200)
      expect(new Set(issued.map(({ key }) => key.id)).size).toBe(200)
      expect(new Set(issued.map(({ secret }) => Redacted.value(secret))).size).toBe(200)
      expect((yield* KeyLifecycle.list).map(({ id }) => id)).toEqual(issued.map(({ key }) => key.id))
    }).pipe(Effect.provide(environment))
  )

  it.effect("stores nothing if the plan is invalid", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(KeyLifecycle.issue({ plan: "Enterprise" }))
      expect(failure).toEqual(
        new KeyLifecycle.PlanInvalid({ reason: "Enterprise needs both perMinute and perDay" })
      )
      expect(failure.message).toBe("Enterprise needs both perMinute and perDay")
      expect(yield* KeyLifecycle.list).toEqual([])
    }).pipe(Effect.provide(environment))
  )

  it.effect.each(["", " ", "a\0b", "\ud800", "x".repeat(256)])(
    "rejects the label and the account %j",
    (label) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(KeyLifecycle.issue({ plan: "Free", label }))
        expect(failure).toMatchObject({ _tag: "LabelInvalid", message: expect.stringMatching(/^label must/) })
        expect(yield* Effect.flip(KeyLifecycle.issue({ plan: "Free", account: label }))).toMatchObject({
          ...{ _tag: "AccountInvalid", message: expect.stringMatching(/^account must/) }
        })
        expect(yield* KeyLifecycle.list).toEqual([])
      }).pipe(Effect.provide(environment))
  )
})

describe("KeyLifecycle.rotate", () => {
  it.effect("keeps both secrets valid until the exact end of the overlap, and then only the new secret", () =>
    Effect.gen(function* () {
      const { key, secret: old } = yield* KeyLifecycle.issue({ plan: "Free" })
      yield* TestClock.adjust(5_000)
      const { key: rotated, secret } = yield* KeyLifecycle.rotate(key.id, 60_000)
      expect(rotated.secrets.map(({ createdAt, expiresAt }) => [createdAt, expiresAt])).toEqual([
        [5_000, undefined],
        [0, 65_000]
      ])
      expect([yield* keyIdOf(old), yield* keyIdOf(secret)]).toEqual([key.id, key.id])
      yield* TestClock.adjust(59_999)
      expect([yield* keyIdOf(old), yield* keyIdOf(secret)]).toEqual([key.id, key.id])
      yield* TestClock.adjust(1)
      expect([yield* keyIdOf(old), yield* keyIdOf(secret)]).toEqual([undefined, key.id])
    }).pipe(Effect.provide(environment))
  )

  it.effect("fails within the overlap of an earlier rotation, and leaves the key unchanged", () =>
    Effect.gen(function* () {
      const { key, secret: first } = yield* KeyLifecycle.issue({ plan: "Free" })
      yield* TestClock.adjust(7)
      const { key: rotated, secret: second } = yield* KeyLifecycle.rotate(key.id, 60_000)
      yield* TestClock.adjust(59_999)
      for (const overlapMs of [0, 60_000]) {
        expect(yield* Effect.flip(KeyLifecycle.rotate(key.id, overlapMs))).toEqual(
          new KeyLifecycle.RotationUnfinished({ id: key.id, secretCreatedAt: 0, secretExpiresAt: 60_007 })
        )
      }
      expect(yield* KeyLifecycle.list).toEqual([rotated])
      expect([yield* keyIdOf(first), yield* keyIdOf(second)]).toEqual([key.id, key.id])
      yield* TestClock.adjust(1)
      yield* KeyLifecycle.rotate(key.id, 60_000)
      expect(yield* keyIdOf(second)).toBe(key.id)
    }).pipe(Effect.provide(environment))
  )

  it.effect(
    "succeeds within the overlap if the key has expired, because its older secret does not work",
    () =>
      Effect.gen(function* () {
        const { key } = yield* KeyLifecycle.issue({ plan: "Free", expires: { inMs: 10 } })
        yield* KeyLifecycle.rotate(key.id, 60_000)
        yield* TestClock.adjust(10)
        expect((yield* KeyLifecycle.rotate(key.id, 60_000)).key.secrets).toHaveLength(2)
      }).pipe(Effect.provide(environment))
  )

  it.effect("invalidates the oldest secret immediately if it is forced within the overlap", () =>
    Effect.gen(function* () {
      const { key, secret: first } = yield* KeyLifecycle.issue({ plan: "Free" })
      const { secret: second } = yield* KeyLifecycle.rotate(key.id, 60_000)
      const { secret: third } = yield* KeyLifecycle.rotate(key.id, 60_000, true)
      expect([yield* keyIdOf(first), yield* keyIdOf(second), yield* keyIdOf(third)]).toEqual([
        undefined,
        key.id,
        key.id
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect(
    "leaves exactly two secrets valid after 20 concurrent forced rotations, and one after the overlap",
    () =>
      Effect.gen(function* () {
        const { key, secret: first } = yield* KeyLifecycle.issue({ plan: "Free" })
        const rotated = yield* Effect.all(
          Array.from({ length: 20 }, () => KeyLifecycle.rotate(key.id, 60_000, true)),
          { concurrency: "unbounded" }
        )
        const secrets = [first, ...rotated.map(({ secret }) => secret)]
        const acceptedIds = () =>
          Effect.map(Effect.forEach(secrets, keyIdOf), (ids) => ids.filter((id) => id === key.id))
        expect(yield* acceptedIds()).toHaveLength(2)
        yield* TestClock.adjust(60_000)
        expect(yield* acceptedIds()).toHaveLength(1)
      }).pipe(Effect.provide(environment))
  )

  it.effect(
    "rejects an overlap that is negative, fractional, infinite or NaN, and leaves the key unchanged",
    () =>
      Effect.gen(function* () {
        const { key } = yield* KeyLifecycle.issue({ plan: "Free" })
        for (const overlapMs of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          const failure = yield* Effect.flip(KeyLifecycle.rotate(key.id, overlapMs))
          expect(failure).toEqual(new KeyLifecycle.OverlapInvalid({ overlapMs }))
        }
        expect(yield* KeyLifecycle.list).toEqual([key])
      }).pipe(Effect.provide(environment))
  )

  it.effect("fails for an unknown id and for a revoked key", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(KeyLifecycle.rotate("key_none", 0))).toEqual(
        new KeyLifecycle.ApiKeyUnknown({ id: "key_none", noun: "API key" })
      )
      const { key, secret } = yield* KeyLifecycle.issue({ plan: "Free" })
      yield* TestClock.adjust(7)
      const revoked = yield* KeyLifecycle.revoke(key.id)
      expect(yield* Effect.flip(KeyLifecycle.rotate(key.id, 0))).toEqual(
        new ApiKey.ApiKeyRevoked({ id: key.id })
      )
      expect(yield* KeyLifecycle.list).toEqual([revoked])
      expect(yield* keyIdOf(secret)).toBeUndefined()
    }).pipe(Effect.provide(environment))
  )
})

describe("KeyLifecycle.revoke", () => {
  it.effect("invalidates all secrets of the key, and keeps its first revocation date when repeated", () =>
    Effect.gen(function* () {
      const { key, secret: old } = yield* KeyLifecycle.issue({ plan: "Free" })
      const { secret } = yield* KeyLifecycle.rotate(key.id, 60_000)
      const second = yield* KeyLifecycle.issue({ plan: "Free" })
      yield* TestClock.adjust(7)
      expect((yield* KeyLifecycle.revoke(key.id)).revokedAt).toBe(7)
      yield* TestClock.adjust(7)
      expect((yield* KeyLifecycle.revoke(key.id)).revokedAt).toBe(7)
      expect([yield* keyIdOf(old), yield* keyIdOf(secret)]).toEqual([undefined, undefined])
      expect(yield* keyIdOf(second.secret)).toBe(second.key.id)
    }).pipe(Effect.provide(environment))
  )

  it.effect("fails for an unknown id", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(KeyLifecycle.revoke("key_none"))).toEqual(
        new KeyLifecycle.ApiKeyUnknown({ id: "key_none", noun: "API key" })
      )
    }).pipe(Effect.provide(environment))
  )
})

describe("KeyLifecycle.issueFirst", () => {
  it.effect("issues one key in total when 20 calls run concurrently on an empty store", () =>
    Effect.gen(function* () {
      const attempts = yield* Effect.all(
        Array.from({ length: 20 }, () => KeyLifecycle.issueFirst({ plan: "Free" })),
        { concurrency: "unbounded" }
      )
      const issued = Option.getOrThrow(Option.firstSomeOf(attempts))
      expect(attempts.filter(Option.isSome)).toHaveLength(1)
      expect((yield* KeyLifecycle.list).map(({ id }) => id)).toEqual([issued.key.id])
    }).pipe(Effect.provide(environment))
  )
})

describe("KeyLifecycle", () => {
  const failure = new StoreUnavailable({ retryable: true, cause: "down" })
  const unavailableStore = Layer.succeed(ApiKeyStore, {
    findByHash: () => Effect.fail(failure),
    insertFirst: () => Effect.fail(failure),
    insert: () => Effect.fail(failure),
    update: () => Effect.fail(failure),
    list: Effect.fail(failure)
  })

  it.effect("fails with the error of an unavailable store in issue, rotate, revoke and list", () =>
    Effect.gen(function* () {
      const programs: ReadonlyArray<
        Effect.Effect<void, unknown, ApiKeyStore | Digest.Digest | SecureRandom.SecureRandom>
      > = [
        Effect.asVoid(KeyLifecycle.issue({ plan: "Free" })),
        Effect.asVoid(KeyLifecycle.rotate("key_1", 0)),
        Effect.asVoid(KeyLifecycle.revoke("key_1")),
        Effect.asVoid(KeyLifecycle.list)
      ]
      for (const program of programs) {
        expect(yield* Effect.flip(program)).toBe(failure)
      }
    }).pipe(Effect.provide(Layer.merge(unavailableStore, crypto)))
  )
})

describe("KeyLifecycle.limitsOf", () => {
  it("fails for an unknown plan", () => {
    // Values that only untyped programs can pass.
    for (const options of ['{"plan":"free"}', '{"plan":"Gold","limits":{"perMinute":1,"perDay":1}}', "{}"]) {
      expect(KeyLifecycle.limitsOf(JSON.parse(options))).toEqual(
        Result.fail(new KeyLifecycle.PlanInvalid({ reason: `plan must be one of ${Plan.names.join(", ")}` }))
      )
    }
  })

  it("returns valid limits or a PlanInvalid failure for any overrides", () => {
    const number = fc.oneof(
      fc.double(),
      fc.integer(),
      fc.constantFrom(0, 1, Plan.maxRequests, Plan.maxRequests + 1)
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...Plan.names),
        fc.option(number, { nil: undefined }),
        fc.option(number, { nil: undefined }),
        (plan, perMinute, perDay) => {
          const limits = KeyLifecycle.limitsOf({ plan, limits: { perMinute, perDay } })
          const defaults = Plan.standard[plan]
          const expected = { perMinute: perMinute ?? defaults?.perMinute, perDay: perDay ?? defaults?.perDay }
          if (Plan.isValid(expected)) expect(limits).toEqual(Result.succeed(expected))
          else expect(Result.isFailure(limits) && limits.failure._tag).toBe("PlanInvalid")
        }
      ),
      { numRuns: 500 }
    )
  })
})
