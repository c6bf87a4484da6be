import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as MemoryApiKeyStore from "../../adapters/memory/MemoryApiKeyStore.ts"
import * as Caller from "../limits/Caller.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as RateLimitStore from "../ports/RateLimitStore.ts"
import * as KeyQuery from "./KeyQuery.ts"
import * as KeyStatus from "./KeyStatus.ts"

const NOW = 1_000_000

const time = fc.option(fc.integer({ min: NOW - 9, max: NOW + 9 }), { nil: undefined })

const key: fc.Arbitrary<Omit<KeyStatus.KeyStatus, "id">> = fc
  .record({
    plan: fc.constantFrom("Free", "Pro"),
    account: fc.constantFrom(undefined, "acme"),
    label: fc.option(fc.constantFrom("Shop", "till", "key"), { nil: undefined }),
    revokedAt: time,
    expiresAt: time,
    oldSecretExpiresAt: time,
    bannedUntil: fc.option(fc.constant(NOW + 5), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 100 }),
    minuteUsed: fc.nat(100),
    dayUsed: fc.nat(200)
  })
  .map(({ bannedUntil, dayUsed, limit, minuteUsed, oldSecretExpiresAt, ...fields }) => ({
    ...fields,
    ...{ limits: { perMinute: limit, perDay: limit }, metadata: undefined, lastSeenDay: undefined },
    createdAt: 0,
    secrets: [
      { hash: "", createdAt: 0, expiresAt: undefined },
      ...(oldSecretExpiresAt === undefined ? [] : [{ hash: "", createdAt: 0, expiresAt: oldSecretExpiresAt }])
    ],
    usage: {
      minute: { limit, remaining: Math.max(limit - minuteUsed, 0), fullAt: NOW },
      day: { limit, used: dayUsed, remaining: Math.max(limit - dayUsed, 0), endsAt: NOW },
      strikes: 0,
      bannedUntil
    }
  }))

const keys = fc
  .array(key, { maxLength: 30 })
  .map((all) => all.map((one, index): KeyStatus.KeyStatus => ({ ...one, id: `key_${index}` })))

const query = fc.record({
  plan: fc.constantFrom(undefined, "Free", "Pro", "Other"),
  account: fc.constantFrom(undefined, "acme", "ac"),
  label: fc.constantFrom(undefined, "", "shop", "EY_1", "il"),
  state: fc.constantFrom(undefined, ...KeyQuery.states)
})

const day = Math.floor(NOW / 86_400_000)

/** A store in which these keys have their usage. */
const limitsOf = (all: ReadonlyArray<KeyStatus.KeyStatus>) => {
  const states = new Map(
    all.map(({ id, limits, usage }) => {
      const used = { ...RateLimit.initial(NOW, limits), day, used: usage.day.used }
      return [Caller.ofKey(id), { ...used, bannedUntil: usage.bannedUntil ?? 0 }] as const
    })
  )
  return RateLimitStore.make({
    modify: () => Effect.die("a list changes nothing"),
    read: (wanted) =>
      Effect.sync(() => ({ at: NOW, states: new Map([...states].filter(([name]) => wanted.includes(name))) }))
  })
}

/** Runs a program on a store with these keys. */
const run = <A, E>(
  all: ReadonlyArray<KeyStatus.KeyStatus>,
  program: Effect.Effect<A, E, ApiKeyStore | RateLimitStore.RateLimitStore>
) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOW)
    const { insert } = yield* ApiKeyStore
    for (const { usage, ...one } of all) yield* insert(one)
    return yield* program
  }).pipe(
    Effect.provide(Layer.fresh(MemoryApiKeyStore.layer)),
    Effect.provideService(RateLimitStore.RateLimitStore, limitsOf(all)),
    Effect.provide(TestClock.layer()),
    Effect.runPromise
  )

/** Reads all pages. */
const readAll = Effect.fnUntraced(function* (given: KeyQuery.KeyQuery) {
  const pages = [yield* KeyQuery.page(given)]
  for (let cursor = pages[0]?.next; cursor !== undefined; cursor = pages.at(-1)?.next) {
    pages.push(yield* KeyQuery.page({ ...given, cursor }))
  }
  return pages
})

describe("KeyQuery.page", () => {
  it("returns each selected key once, newest first, in pages that are full except for the last", async () => {
    await fc.assert(
      fc.asyncProperty(keys, query, fc.integer({ min: 1, max: 9 }), async (all, given, limit) => {
        const [stored, pages] = await run(all, Effect.all([KeyStatus.list(), readAll({ ...given, limit })]))
        const expected = stored
          .filter(({ plan }) => given.plan === undefined || plan === given.plan)
          .filter(({ account }) => given.account === undefined || account === given.account)
          .filter(({ id, label = "" }) =>
            [id, label].some((text) => text.toLowerCase().includes((given.label ?? "").toLowerCase()))
          )
          .filter((one) => given.state === undefined || KeyQuery.statesOf(one, NOW).includes(given.state))
        expect(pages.flatMap((page) => page.keys)).toEqual(expected.toReversed())
        for (const page of pages.slice(0, -1)) expect(page.keys).toHaveLength(limit)
      })
    )
  })

  it("returns the next keys even if the last key of a page is no longer selected", async () => {
    await fc.assert(
      fc.asyncProperty(keys, async (all) => {
        const first = await run(all, KeyQuery.page({ limit: 2 }))
        if (first.next === undefined) return
        const revoked = all.map((one) => (one.id === first.next ? { ...one, revokedAt: 1 } : one))
        const next = await run(revoked, KeyQuery.page({ state: "active", cursor: first.next, limit: 100 }))
        const seen = new Set(first.keys.map(({ id }) => id))
        expect(next.keys.some(({ id }) => seen.has(id))).toBe(false)
      })
    )
  })
})

describe("KeyQuery.statesOf", () => {
  it("is one state for a key that is not valid, and `active` only alone", () => {
    fc.assert(
      fc.property(keys, (all) => {
        for (const one of all) {
          const states = KeyQuery.statesOf(one, NOW)
          const isValid = one.revokedAt === undefined && !((one.expiresAt ?? NOW + 1) <= NOW)
          expect(states.some((state) => state === "revoked" || state === "expired")).toBe(!isValid)
          if (!isValid || states.includes("active")) expect(states).toHaveLength(1)
          if (isValid) expect(states.includes("banned")).toBe(one.usage.bannedUntil !== undefined)
        }
      })
    )
  })

  it.each([
    [100, 20, 0, true],
    [100, 21, 0, false],
    [100, 100, 80, true],
    [100, 100, 79, false],
    [1, 1, 0, false],
    [1, 0, 0, true]
  ])(
    "of a limit of %d with %d left of the minute and %d used of the day is near_limit: %s",
    (limit, remaining, used, isNear) => {
      const [one] = fc.sample(key, { numRuns: 1, seed: 1 })
      const usage = {
        minute: { limit, remaining, fullAt: NOW },
        day: { limit, used, remaining: limit - used, endsAt: NOW },
        strikes: 0,
        bannedUntil: undefined
      }
      const valid = {
        ...one,
        id: "key_0",
        revokedAt: undefined,
        expiresAt: undefined,
        secrets: [],
        usage
      } as KeyStatus.KeyStatus
      expect(KeyQuery.statesOf(valid, NOW)).toEqual([isNear ? "near_limit" : "active"])
    }
  )
})
