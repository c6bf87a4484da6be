/** The laws of `ApiKeyStore` as tests, the same ones for every store. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as ApiKey from "../access/ApiKey.ts"
import { petName } from "../domain/NewPet.arbitrary.ts"
import * as Plan from "../limits/Plan.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"

/** A key with one secret. */
export const keyOf = (id: string, hash: string, createdAt: number): ApiKey.ApiKey => ({
  id,
  plan: "Free",
  limits: Plan.standard.Free,
  label: undefined,
  createdAt,
  revokedAt: undefined,
  secrets: [{ hash, createdAt, expiresAt: undefined }]
})

const time = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.nat(8_640_000_000_000_000))
const requests = fc.integer({ min: 1, max: Plan.maxRequests })

/** A key but for its id and its hashes, which are new each time. */
interface Draft extends Omit<ApiKey.ApiKey, "id" | "secrets"> {
  readonly secrets: ReadonlyArray<Omit<ApiKey.StoredSecret, "hash">>
}

const draft: fc.Arbitrary<Draft> = fc.record({
  plan: fc.constantFrom(...Plan.names),
  limits: fc.record({ perMinute: requests, perDay: requests }),
  label: fc.option(petName, { nil: undefined }),
  createdAt: time,
  revokedAt: fc.option(time, { nil: undefined }),
  secrets: fc.array(fc.record({ createdAt: time, expiresAt: fc.option(time, { nil: undefined }) }), {
    maxLength: 3
  })
})

type Command =
  | { readonly insert: Draft }
  | { readonly insertFirst: Draft }
  | { readonly rotate: number }
  | { readonly revoke: number }
  | { readonly relabel: number; readonly label: string | undefined }

const position = fc.nat(12)

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ insert: draft }),
  fc.record({ insertFirst: draft }),
  fc.record({ rotate: position }),
  fc.record({ revoke: position }),
  fc.record({ relabel: position, label: fc.option(petName, { nil: undefined }) })
)

/** Which key a command changes, by its place in the list, and into what. */
const changeOf = (
  step: Exclude<Command, { readonly insert: Draft } | { readonly insertFirst: Draft }>,
  hash: string,
  now: number
): readonly [index: number, change: (key: ApiKey.ApiKey) => ApiKey.ApiKey] => {
  if ("rotate" in step) {
    return [step.rotate, (key) => Result.getOrElse(ApiKey.rotate(key, hash, 10, now), () => key)]
  }
  if ("revoke" in step) return [step.revoke, (key) => ApiKey.revoke(key, now)]
  return [step.relabel, (key) => ({ ...key, label: step.label })]
}

/** A history that breaks a law is made smaller for so long, then told as it is; databases are slow at that. */
const SHRINKING_MS = 60_000

/** Adds the tests to the current `describe`; each time `empty` is built there is a store without keys. */
export const apiKeyStoreLaws = <E>(
  empty: Layer.Layer<ApiKeyStore, E>,
  { numRuns }: { readonly numRuns: number }
): void => {
  const onEmpty = <A, F>(test: Effect.Effect<A, F, ApiKeyStore>): Promise<A> =>
    Effect.runPromise(Effect.provide(test, empty))

  it(
    "after any history finds each key by each of its secrets, by no other, and lists all, oldest first",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 40, size: "max" }), (commands) =>
          Effect.gen(function* () {
            const store = yield* ApiKeyStore
            const model: Array<ApiKey.ApiKey> = []
            const hashes: Array<string> = []
            const newHash = (): string => {
              hashes.push(`hash ${hashes.length}`)
              return `hash ${hashes.length - 1}`
            }
            const keyFrom = (draft: Draft, now: number): ApiKey.ApiKey => ({
              ...draft,
              id: `key ${now}`,
              secrets: draft.secrets.map((secret) => ({ ...secret, hash: newHash() }))
            })
            for (const [now, step] of commands.entries()) {
              if ("insert" in step) {
                const key = keyFrom(step.insert, now)
                yield* store.insert(key)
                model.push(key)
              } else if ("insertFirst" in step) {
                const key = keyFrom(step.insertFirst, now)
                expect(yield* store.insertFirst(key)).toBe(model.length === 0)
                if (model.length === 0) model.push(key)
              } else {
                const [index, change] = changeOf(step, newHash(), now)
                const before = model[index]
                const answer = yield* store.update(before?.id ?? "unknown", (key) => [key, change(key)])
                expect(answer).toEqual(Option.fromUndefinedOr(before))
                if (before !== undefined) model[index] = change(before)
              }
              expect(yield* store.list).toEqual(model)
            }
            for (const hash of hashes) {
              const owner = model.find((key) => key.secrets.some((secret) => secret.hash === hash))
              expect(yield* store.findByHash(hash)).toEqual(Option.fromUndefinedOr(owner))
            }
          }).pipe(onEmpty)
        ),
        { numRuns, interruptAfterTimeLimit: SHRINKING_MS }
      )
    },
    SHRINKING_MS + 30_000
  )

  it("after each step of a key's life it is found by the secrets that it has then", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const first = keyOf("a", "hash 0", 0)
      expect(yield* store.findByHash("hash 0")).toEqual(Option.none())
      yield* store.insert(first)
      expect(yield* store.findByHash("hash 0")).toEqual(Option.some(first))
      yield* store.update("a", (key) => [undefined, Result.getOrThrow(ApiKey.rotate(key, "hash 1", 10, 1))])
      const rotated = Option.getOrThrow(yield* store.findByHash("hash 0"))
      expect(rotated.secrets.map((secret) => secret.hash)).toEqual(["hash 1", "hash 0"])
      expect(yield* store.findByHash("hash 1")).toEqual(Option.some(rotated))
      yield* store.update("a", (key) => [undefined, Result.getOrThrow(ApiKey.rotate(key, "hash 2", 10, 2))])
      expect(yield* store.findByHash("hash 0")).toEqual(Option.none())
      yield* store.update("a", (key) => [undefined, ApiKey.revoke(key, 3)])
      expect(Option.getOrThrow(yield* store.findByHash("hash 2")).revokedAt).toBe(3)
    }).pipe(onEmpty))

  it("concurrent updates of one key all take effect", () =>
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
    }).pipe(onEmpty))

  it("of several that add the first key at once, one adds it", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const added = yield* Effect.all(
        Array.from({ length: 50 }, (_, index) =>
          store.insertFirst(keyOf(`key ${index}`, `hash ${index}`, 0))
        ),
        { concurrency: "unbounded" }
      )
      expect(added.filter((isFirst) => isFirst)).toHaveLength(1)
      const winner = added.indexOf(true)
      expect(yield* store.list).toEqual([keyOf(`key ${winner}`, `hash ${winner}`, 0)])
    }).pipe(onEmpty))

  it("a change that throws leaves the key as it was, and the store at work", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const key = keyOf("a", "hash", 0)
      yield* store.insert(key)
      const exit = yield* Effect.exit(
        store.update("a", () => {
          throw new Error("a bug in the change")
        })
      )
      expect(Exit.isFailure(exit)).toBe(true)
      expect(yield* store.findByHash("hash")).toEqual(Option.some(key))
      expect(yield* store.update("a", (same) => ["done", same])).toEqual(Option.some("done"))
    }).pipe(onEmpty))
}
