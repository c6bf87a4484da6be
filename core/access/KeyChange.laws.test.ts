import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Plan from "../limits/Plan.ts"
import * as ApiKey from "./ApiKey.ts"
import * as KeyChange from "./KeyChange.ts"
import * as KeyEvent from "./KeyEvent.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"
import * as Metadata from "./Metadata.ts"

const requests = fc.integer({ min: 1, max: Plan.maxRequests })
const label = fc.option(
  fc.string({ minLength: 1, maxLength: 9 }).filter((text) => text.trim() !== ""),
  {
    nil: undefined
  }
)

const metadata = fc.option(
  fc.dictionary(fc.string({ maxLength: 9 }), fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
  {
    nil: undefined
  }
)

const key: fc.Arbitrary<ApiKey.ApiKey> = fc.record({
  id: fc.constant("key_1"),
  plan: fc.constantFrom(...Plan.names),
  limits: fc.record({ perMinute: requests, perDay: requests }),
  label,
  account: label,
  metadata: metadata.map((given) => given && Result.getOrThrow(Metadata.valid(given))),
  createdAt: fc.nat(),
  revokedAt: fc.constant(undefined),
  expiresAt: fc.option(fc.nat(), { nil: undefined }),
  lastSeenDay: fc.option(fc.nat(), { nil: undefined }),
  secrets: fc.constant([{ hash: "hash", createdAt: 1, expiresAt: undefined }])
})

const limits = fc.record({
  perMinute: fc.option(requests, { nil: undefined }),
  perDay: fc.option(requests, { nil: undefined })
})

const change: fc.Arbitrary<KeyChange.KeyChange> = fc.record({
  plan: fc.option(fc.constantFrom(...Plan.names), { nil: undefined }),
  limits: fc.option(limits, { nil: undefined }),
  label: fc.oneof(label, fc.constant(null)),
  account: fc.oneof(label, fc.constant(null)),
  metadata: fc.oneof(metadata, fc.constant(null)),
  expires: fc.option(
    fc.oneof(fc.constant("never" as const), fc.record({ inMs: fc.nat() }), fc.record({ atMs: fc.nat() })),
    { nil: undefined }
  )
})

const standardLimits = (plan: Plan.PlanName): Plan.Plan | undefined =>
  Plan.isStandard(plan) ? Plan.standard[plan] : undefined

const isPossible = ({ limits, plan }: KeyChange.KeyChange): boolean =>
  plan === undefined ||
  standardLimits(plan) !== undefined ||
  (limits?.perMinute !== undefined && limits.perDay !== undefined)

describe("KeyChange.apply", () => {
  it("applies the given fields, uses the limits of a new plan unless overridden, and keeps the other fields", () => {
    fc.assert(
      fc.property(key, change.filter(isPossible), fc.nat(), (before, wanted, now) => {
        const after = Result.getOrThrow(KeyChange.apply(before, wanted, now))
        const base = wanted.plan === undefined ? before.limits : standardLimits(wanted.plan)
        const { expires } = wanted
        const changed = (field: "label" | "account" | "metadata") =>
          wanted[field] === null ? undefined : (wanted[field] ?? before[field])
        expect(after).toEqual({
          ...before,
          plan: wanted.plan ?? before.plan,
          limits: {
            perMinute: wanted.limits?.perMinute ?? base?.perMinute,
            perDay: wanted.limits?.perDay ?? base?.perDay
          },
          ...{ label: changed("label"), account: changed("account"), metadata: changed("metadata") },
          expiresAt:
            expires === undefined
              ? before.expiresAt
              : expires === "never"
                ? undefined
                : "inMs" in expires
                  ? now + expires.inMs
                  : expires.atMs
        })
      })
    )
  })

  it("returns the same object if no field changes, so that nothing is stored or recorded", () => {
    fc.assert(
      fc.property(key, ({ lastSeenDay, ...rest }) => {
        const before = { ...rest, lastSeenDay }
        const { account, expiresAt, label, limits, metadata } = before
        const unchanged: KeyChange.KeyChange = {
          limits,
          ...{ label: label ?? null, account: account ?? null, metadata: metadata ?? null },
          expires: expiresAt === undefined ? "never" : { atMs: expiresAt }
        }
        expect(Result.getOrThrow(KeyChange.apply(before, unchanged, 5))).toBe(before)
        expect(Result.getOrThrow(KeyChange.apply(before, {}, 5))).toBe(before)
      })
    )
  })

  it("fails for any change to a revoked key", () => {
    fc.assert(
      fc.property(key, change, (before, wanted) => {
        expect(KeyChange.apply(ApiKey.revoke(before, 3), wanted, 5)).toEqual(
          Result.fail(new ApiKey.ApiKeyRevoked({ id: "key_1" }))
        )
      })
    )
  })

  it("fails if a field is invalid", () => {
    fc.assert(
      fc.property(key, (before) => {
        const failureTag = (wanted: KeyChange.KeyChange) => {
          const result = KeyChange.apply(before, wanted, 5)
          return Result.isFailure(result) ? result.failure._tag : "success"
        }
        expect(failureTag({ plan: "Enterprise" })).toBe("PlanInvalid")
        expect(failureTag({ plan: "Enterprise", limits: { perMinute: 5 } })).toBe("PlanInvalid")
        expect(failureTag({ limits: { perDay: 0 } })).toBe("PlanInvalid")
        expect(failureTag({ limits: { perMinute: 0.5 } })).toBe("PlanInvalid")
        expect(failureTag({ label: " " })).toBe("LabelInvalid")
        expect(failureTag({ account: "" })).toBe("AccountInvalid")
        expect(failureTag({ metadata: { text: "x".repeat(5_000) } })).toBe("MetadataInvalid")
        expect(failureTag({ expires: { inMs: -1 } })).toBe("ExpiryInvalid")
        expect(KeyLifecycle.limitsOf({ plan: before.plan, limits: before.limits })).toEqual(
          Result.succeed(before.limits)
        )
      })
    )
  })
})

describe("KeyEvent.changesBetween", () => {
  it("returns exactly the fields that differ, without hashes", () => {
    fc.assert(
      fc.property(key, change.filter(isPossible), (before, wanted) => {
        const after = Result.getOrThrow(KeyChange.apply(before, wanted, 5))
        const changes = KeyEvent.changesBetween(before, after)
        for (const { from, to } of Object.values(changes)) expect(from).not.toBe(to)
        const copy = { ...before }
        expect(Object.keys(KeyEvent.changesBetween(copy, before))).toEqual([])
        expect("perMinute" in changes).toBe(before.limits.perMinute !== after.limits.perMinute)
        expect("perDay" in changes).toBe(before.limits.perDay !== after.limits.perDay)
        expect("plan" in changes).toBe(before.plan !== after.plan)
        expect("label" in changes).toBe(before.label !== after.label)
        expect("account" in changes).toBe(before.account !== after.account)
        expect("metadata" in changes).toBe(JSON.stringify(before.metadata) !== JSON.stringify(after.metadata))
        expect("expiresAt" in changes).toBe(before.expiresAt !== after.expiresAt)
        expect(JSON.stringify(changes)).not.toContain("hash")
      })
    )
  })
})

describe("ApiKey.accepts", () => {
  it("returns false from the millisecond of the expiry, and true again after the expiry is removed", () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 1_000_000 }), fc.nat(), (before, inMs, now) => {
        const expiring = Result.getOrThrow(KeyChange.apply(before, { expires: { inMs } }, now))
        expect(ApiKey.accepts(expiring, "hash", now + inMs - 1)).toBe(true)
        for (const later of [0, 1, inMs]) {
          expect(ApiKey.accepts(expiring, "hash", now + inMs + later)).toBe(false)
        }
        const restored = Result.getOrThrow(KeyChange.apply(expiring, { expires: "never" }, now + inMs))
        expect(ApiKey.accepts(restored, "hash", now + inMs)).toBe(true)
      })
    )
  })
})
