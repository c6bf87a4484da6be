import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as KeyQuery from "./KeyQuery.ts"
import type { KeyStatus } from "./KeyStatus.ts"

const NOW = 1_000_000

const time = fc.option(fc.integer({ min: NOW - 9, max: NOW + 9 }), { nil: undefined })

const key: fc.Arbitrary<Omit<KeyStatus, "id">> = fc
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
  .map((all) => all.map((one, index): KeyStatus => ({ ...one, id: `key_${index}` })))

const query = fc.record({
  plan: fc.constantFrom(undefined, "Free", "Pro", "Other"),
  account: fc.constantFrom(undefined, "acme", "ac"),
  label: fc.constantFrom(undefined, "", "shop", "EY_1", "il"),
  state: fc.constantFrom(undefined, ...KeyQuery.states)
})

/** Reads all pages. */
const readAll = (all: ReadonlyArray<KeyStatus>, given: KeyQuery.KeyQuery, limit: number) => {
  const pages = [KeyQuery.page(all, given, limit, NOW)]
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) {
    pages.push(KeyQuery.page(all, { ...given, cursor: next }, limit, NOW))
  }
  return pages
}

describe("KeyQuery.page", () => {
  it("returns each selected key once, newest first, in pages that are full except for the last", () => {
    fc.assert(
      fc.property(keys, query, fc.integer({ min: 1, max: 9 }), (all, given, limit) => {
        const pages = readAll(all, given, limit)
        const expected = all
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

  it("counts the keys of all pages by state, whatever the state that is selected", () => {
    fc.assert(
      fc.property(keys, query, (all, given) => {
        const { counts } = KeyQuery.page(all, given, 3, NOW)
        for (const state of KeyQuery.states) {
          const selected = readAll(all, { ...given, state }, 100).flatMap((page) => page.keys)
          expect(counts[state]).toBe(selected.length)
        }
        expect(counts.all).toBe(readAll(all, { ...given, state: undefined }, 100)[0]?.keys.length)
      })
    )
  })

  it("returns the next keys even if the last key of a page is no longer selected", () => {
    fc.assert(
      fc.property(keys, (all) => {
        const first = KeyQuery.page(all, {}, 2, NOW)
        const revoked = all.map((one) => (one.id === first.next ? { ...one, revokedAt: 1 } : one))
        const state = "active"
        const next = KeyQuery.page(revoked, { state, cursor: first.next }, 100, NOW)
        if (first.next === undefined) return
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
      } as KeyStatus
      expect(KeyQuery.statesOf(valid, NOW)).toEqual([isNear ? "near_limit" : "active"])
    }
  )
})
