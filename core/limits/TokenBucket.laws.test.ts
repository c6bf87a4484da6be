import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Plan from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

const perMinute = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: Plan.maxRequests }))

const bucket = perMinute.chain((perMinute) =>
  fc.record({
    perMinute: fc.constant(perMinute),
    level: fc.integer({ min: 0, max: TokenBucket.capacity(perMinute) }),
    at: fc.integer({ min: 0, max: 4_000_000_000_000 })
  })
)

describe("TokenBucket", () => {
  it("has the target level at the time that `reaches` returns, and a lower level one millisecond earlier", () => {
    fc.assert(
      fc.property(bucket, fc.double({ min: 0, max: 1, noNaN: true }), ({ at, level, perMinute }, share) => {
        const target = Math.floor(TokenBucket.capacity(perMinute) * share)
        const reached = TokenBucket.reaches(level, at, target, perMinute)
        expect(TokenBucket.levelAt({ level, at }, reached, perMinute)).toBeGreaterThanOrEqual(target)
        if (reached > at) {
          expect(TokenBucket.levelAt({ level, at }, reached - 1, perMinute)).toBeLessThan(target)
        }
      }),
      { numRuns: 1000 }
    )
  })

  it("has the same level after two waits as after one wait of the same total length", () => {
    fc.assert(
      fc.property(
        bucket,
        fc.nat({ max: 70_000 }),
        fc.nat({ max: 70_000 }),
        ({ at, level, perMinute }, firstMs, secondMs) => {
          const halfway = {
            level: TokenBucket.levelAt({ level, at }, at + firstMs, perMinute),
            at: at + firstMs
          }
          const direct = TokenBucket.levelAt({ level, at }, at + firstMs + secondMs, perMinute)
          expect(TokenBucket.levelAt(halfway, at + firstMs + secondMs, perMinute)).toBe(direct)
        }
      )
    )
  })

  it("is full after a minute, for any plan, and its level is a safe integer up to its capacity", () => {
    fc.assert(
      fc.property(bucket, perMinute, fc.integer(), ({ at, level }, otherPerMinute, ms) => {
        expect(TokenBucket.levelAt({ level, at }, TokenBucket.fullBy(at), otherPerMinute)).toBe(
          TokenBucket.capacity(otherPerMinute)
        )
        const levelNow = TokenBucket.levelAt({ level, at }, at + ms, otherPerMinute)
        expect(Number.isSafeInteger(levelNow)).toBe(true)
        expect(levelNow).toBeLessThanOrEqual(TokenBucket.capacity(otherPerMinute))
      })
    )
  })

  it("contains the units of exactly `remaining` requests", () => {
    fc.assert(
      fc.property(bucket, ({ level }) => {
        const count = TokenBucket.remaining(level)
        expect(count * TokenBucket.COST).toBeLessThanOrEqual(level)
        expect((count + 1) * TokenBucket.COST).toBeGreaterThan(level)
      })
    )
  })
})
