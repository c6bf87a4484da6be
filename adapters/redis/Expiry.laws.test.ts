/** Checks when states expire in Redis, and that the number of stored networks does not exceed its maximum. */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { DAY } from "../../conformance/ports/LimitDraws.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

const GRACE_MS = 60_000

const HOUR = 3_600_000

const plan = { perMinute: 2, perDay: 5 }
const policy = { plan, ban: BanPolicy.standard }

/** Generates states near the time `now`, some with strikes and bans, as `modify` may store them. */
const stateNear = (now: number): fc.Arbitrary<RateLimit.State> => {
  const past = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 3 * DAY }).map((ms) => now - ms)
  )
  return fc.record({
    level: fc.integer({ min: 0, max: 120_000 }),
    at: fc.integer({ min: now - 2 * DAY, max: now }),
    day: fc.integer({ min: Math.floor(now / DAY) - 2, max: Math.floor(now / DAY) }),
    used: fc.integer({ min: 0, max: 5 }),
    debt: fc.integer({ min: 0, max: 8 }),
    strikes: fc.integer({ min: 0, max: 19 }),
    strikesFrom: past,
    strikeAt: past,
    banLevel: fc.integer({ min: 0, max: 3 }),
    bannedUntil: fc.oneof(past, fc.integer({ min: now, max: now + HOUR }))
  })
}

for (const kind of RedisServers.kinds) {
  for (const topology of Nodes.topologies) {
    RedisServers.describeOn(kind, `RedisRateLimitStore (${topology})`, () => {
      const deployment = Nodes.forAllTests(() => Nodes.startDeployment(kind, topology))

      it("expires a state a minute after it becomes equivalent to an absent state", () =>
        Nodes.inScope(
          Effect.gen(function* () {
            const store = yield* Nodes.open(deployment().address, { clock: "database" })
            let run = 0
            yield* Effect.promise(() =>
              fc.assert(
                fc.asyncProperty(
                  stateNear(Date.now()),
                  fc.integer({ min: 0, max: 3 }),
                  async (state, requests) => {
                    const caller = `key:${run++}`
                    const key = `animal-store:{${caller}}`
                    await Effect.runPromise(store.modify(caller, () => [undefined, state]))
                    for (let count = 0; count < requests; count++) {
                      await Effect.runPromise(Nodes.consume(store, caller, 0, policy))
                    }
                    const after = await Nodes.readState(deployment(), caller)
                    const expiry = Number(await deployment().send(key, "PEXPIRETIME", key))
                    if (after === undefined) {
                      // The state was already spent, and Redis deletes an expired key immediately.
                      expect(RateLimit.spentAt(state, BanPolicy.standard) + GRACE_MS).toBeLessThanOrEqual(
                        Date.now()
                      )
                    } else {
                      expect(expiry).toBe(RateLimit.spentAt(after, BanPolicy.standard) + GRACE_MS)
                    }
                  }
                ),
                { numRuns: 200 }
              )
            )
          })
        ))

      it("expires a state a day after it becomes equivalent to an absent state if the service provides the time", () =>
        Nodes.inScope(
          Effect.gen(function* () {
            const store = yield* Nodes.open(deployment().address)
            const now = 20_000 * DAY + HOUR
            yield* Nodes.consume(store, "key:given", now, policy)
            const key = "animal-store:{key:given}"
            const ttlMs = Number(yield* Effect.promise(() => deployment().send(key, "PTTL", key)))
            const expected = 23 * HOUR + DAY
            expect(ttlMs).toBeLessThanOrEqual(expected)
            expect(ttlMs).toBeGreaterThan(expected - GRACE_MS)
          })
        ))

      it("stores at most the maximum number of networks, and rarely evicts a frequently used network", () =>
        Nodes.inScope(
          Effect.gen(function* () {
            yield* Effect.promise(() => deployment().empty())
            const maxAnonymousStates = 1_000
            const store = yield* Nodes.open(deployment().address, { maxAnonymousStates })
            const anonymous = { plan: { perMinute: 60, perDay: 1_000 }, ban: undefined }
            const victim = Caller.ofNetwork("192.0.2.1")
            let now = 20_000 * DAY
            let victimRequests = 0
            let evictions = 0
            for (let round = 0; round < 60; round++) {
              now += 10
              const flood = Array.from({ length: 100 }, (_, index) =>
                Caller.ofNetwork(`2001:db8:${round}:${index}::/64`)
              )
              yield* Effect.forEach(flood, (caller) => Nodes.consume(store, caller, now, anonymous), {
                concurrency: "unbounded"
              })
              now += 1
              const verdict = yield* Nodes.consume(store, victim, now, anonymous)
              victimRequests++
              if (verdict.outcome === "admitted" && verdict.remaining === 59 && round > 0) evictions++
            }
            let networks = 0
            for (let index = 0; index < 1_024; index++) {
              const key = `animal-store:networks:{${index}}`
              const fields = Number(yield* Effect.promise(() => deployment().send(key, "HLEN", key)))
              const ttlMs = Number(yield* Effect.promise(() => deployment().send(key, "PTTL", key)))
              if (fields > 0) expect(ttlMs).toBeGreaterThan(0)
              networks += fields
            }
            expect(networks).toBeLessThanOrEqual(maxAnonymousStates)
            expect(networks).toBeGreaterThan(maxAnonymousStates / 2)
            expect(victimRequests).toBe(60)
            // Several networks share a set, and an eviction deletes the least recently used network of a sample only.
            expect(evictions).toBeLessThan(10)
            console.log(
              `networks: ${networks} of ${maxAnonymousStates} stored; the frequently used one was evicted ${evictions} times`
            )
          })
        ))
    })
  }
}
