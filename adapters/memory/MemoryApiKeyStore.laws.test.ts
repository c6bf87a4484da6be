import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../core/access/ApiKey.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"

const keyOf = (id: string, hash: string, createdAt: number): ApiKey.ApiKey => ({
  id,
  plan: "Free",
  limits: Plan.standard.Free,
  label: undefined,
  createdAt,
  revokedAt: undefined,
  secrets: [{ hash, createdAt, expiresAt: undefined }]
})

type Command = "insert" | { readonly rotate: number } | { readonly revoke: number }

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constant<Command>("insert"),
  fc.record({ rotate: fc.nat(12) }),
  fc.record({ revoke: fc.nat(12) })
)

describe("MemoryApiKeyStore", () => {
  it("after any history finds each key by each of its secrets, by no other, and lists all, oldest first", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 50, size: "max" }), (commands) =>
        Effect.gen(function* () {
          const store = yield* ApiKeyStore
          const model: Array<ApiKey.ApiKey> = []
          const hashes: Array<string> = []
          for (const [now, step] of commands.entries()) {
            const hash = `hash ${now}`
            hashes.push(hash)
            if (step === "insert") {
              const key = keyOf(`key ${now}`, hash, now)
              model.push(key)
              yield* store.insert(key)
            } else {
              const index = "rotate" in step ? step.rotate : step.revoke
              const change = (key: ApiKey.ApiKey) =>
                "rotate" in step
                  ? Result.getOrElse(ApiKey.rotate(key, hash, 10, now), () => key)
                  : ApiKey.revoke(key, now)
              const id = model[index]?.id ?? "unknown"
              const answer = yield* store.update(id, (key) => [`was ${key.id}`, change(key)])
              const before = model[index]
              expect(answer).toEqual(before === undefined ? Option.none() : Option.some(`was ${id}`))
              if (before !== undefined) model[index] = change(before)
            }
            for (const candidate of hashes) {
              const owner = model.find((key) => key.secrets.some((secret) => secret.hash === candidate))
              expect(yield* store.findByHash(candidate)).toEqual(Option.fromUndefinedOr(owner))
            }
            expect(yield* store.list).toEqual(model)
          }
        }).pipe(Effect.provide(MemoryApiKeyStore.layer), Effect.runPromise)
      ),
      { numRuns: 200 }
    )
  })

  it.effect("concurrent updates of one key all take effect", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      yield* store.insert(keyOf("a", "hash", 0))
      const seen = yield* Effect.all(
        Array.from({ length: 100 }, () =>
          store.update("a", (key) => [key.createdAt, { ...key, createdAt: key.createdAt + 1 }])
        ),
        { concurrency: "unbounded" }
      )
      expect(new Set(seen.map(Option.getOrUndefined)).size).toBe(100)
      expect(Option.getOrUndefined(yield* store.findByHash("hash"))?.createdAt).toBe(100)
    }).pipe(Effect.provide(MemoryApiKeyStore.layer))
  )

  it.effect("a change that throws leaves the key as it was", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const key = keyOf("a", "hash", 0)
      yield* store.insert(key)
      yield* Effect.exit(
        store.update("a", () => {
          throw new Error("a bug in the change")
        })
      )
      expect(yield* store.findByHash("hash")).toEqual(Option.some(key))
    }).pipe(Effect.provide(MemoryApiKeyStore.layer))
  )
})
