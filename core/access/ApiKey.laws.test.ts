import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ApiKey from "./ApiKey.ts"

const start = 1_800_000_000_000

const issuedKey = (hash: string): ApiKey.ApiKey => ({
  id: "key_1",
  plan: "Free",
  limits: { perMinute: 60, perDay: 1_000 },
  label: undefined,
  account: undefined,
  metadata: undefined,
  createdAt: start,
  revokedAt: undefined,
  expiresAt: undefined,
  lastSeenDay: undefined,
  secrets: [{ hash, createdAt: start, expiresAt: undefined }]
})

const rotations = fc.array(
  fc.record({
    after: fc.oneof(fc.constant(0), fc.nat({ max: 100 }), fc.nat({ max: 1_000_000 })),
    overlapMs: fc.oneof(fc.constant(0), fc.nat({ max: 100 }), fc.nat({ max: 1_000_000 }))
  }),
  { maxLength: 10 }
)

describe("ApiKey.rotate", () => {
  it("returns a key that accepts only the newest secret and, until the overlap ends, the previous one", () => {
    fc.assert(
      fc.property(rotations, fc.array(fc.integer({ min: 0, max: 2_000_000 })), (rotations, laterMs) => {
        let key = issuedKey("hash-0")
        let now = start
        let previousUntil = start
        for (const [index, { after, overlapMs }] of rotations.entries()) {
          now += after
          previousUntil = now + overlapMs
          key = Result.getOrThrow(ApiKey.rotate(key, `hash-${index + 1}`, overlapMs, now))
          expect(key.secrets.length).toBeLessThanOrEqual(2)
        }
        const newest = rotations.length
        for (const time of [
          now,
          previousUntil - 1,
          previousUntil,
          previousUntil + 1,
          ...laterMs.map((ms) => now + ms)
        ]) {
          if (time < now) continue
          const accepted = [...rotations, undefined]
            .map((_, index) => index)
            .filter((index) => ApiKey.accepts(key, `hash-${index}`, time))
          expect(accepted).toEqual(time < previousUntil && newest > 0 ? [newest - 1, newest] : [newest])
        }
      })
    )
  })

  it("changes only the secrets of the key", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (overlapMs, ms) => {
        const { secrets, ...rest } = issuedKey("old")
        expect(Result.getOrThrow(ApiKey.rotate({ ...rest, secrets }, "new", overlapMs, start + ms))).toEqual({
          ...rest,
          secrets: [
            { hash: "new", createdAt: start + ms, expiresAt: undefined },
            { hash: "old", createdAt: start, expiresAt: start + ms + overlapMs }
          ]
        })
      })
    )
  })
})

describe("ApiKey.revoke", () => {
  it("returns a key that accepts none of its secrets, after any number of rotations", () => {
    fc.assert(
      fc.property(rotations, fc.integer(), (rotations, ms) => {
        let key = issuedKey("hash-0")
        for (const [index, { overlapMs }] of rotations.entries()) {
          key = Result.getOrThrow(ApiKey.rotate(key, `hash-${index + 1}`, overlapMs, start))
        }
        const revoked = ApiKey.revoke(key, start)
        for (const { hash } of key.secrets) expect(ApiKey.accepts(revoked, hash, start + ms)).toBe(false)
      })
    )
  })

  it("returns a key that `rotate` rejects with ApiKeyRevoked", () => {
    const result = ApiKey.rotate(ApiKey.revoke(issuedKey("old"), start), "new", 0, start + 1)
    expect(Result.isFailure(result) && result.failure).toEqual(new ApiKey.ApiKeyRevoked({ id: "key_1" }))
  })

  it("keeps the first revocation date of a key that is already revoked", () => {
    const once = ApiKey.revoke(issuedKey("a"), start + 1)
    expect(once.revokedAt).toBe(start + 1)
    expect(ApiKey.revoke(once, start + 2)).toEqual(once)
  })
})
