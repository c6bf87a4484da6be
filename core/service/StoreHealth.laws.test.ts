import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as StoreHealth from "./StoreHealth.ts"

const operations = ["listPets", "createPet", StoreHealth.ADMISSION] as const

const histories = fc.array(
  fc.record({
    passMs: fc.oneof(fc.nat(100), fc.nat(StoreHealth.HOLD_MS * 2), fc.nat(StoreHealth.MEMORY_MS * 2)),
    operation: fc.constantFrom(...operations),
    isFailure: fc.boolean()
  }),
  { maxLength: 60 }
)

const replay = (history: typeof histories extends fc.Arbitrary<infer History> ? History : never) => {
  let health = StoreHealth.initial
  let now = 0
  for (const { isFailure, operation, passMs } of history) {
    now += passMs
    health = isFailure
      ? StoreHealth.recordFailure(health, operation, now)
      : StoreHealth.recordSuccess(health, operation)
  }
  return { health, now }
}

describe("StoreHealth.isFailing", () => {
  it("returns false before the maximum number of consecutive failures", () => {
    fc.assert(
      fc.property(fc.constantFrom(...operations), fc.array(fc.nat(5_000)), (operation, pauses) => {
        let health = StoreHealth.initial
        let now = 0
        for (const [index, pause] of pauses.entries()) {
          now += pause
          health =
            index % StoreHealth.MAX_FAILURES === StoreHealth.MAX_FAILURES - 1
              ? StoreHealth.recordSuccess(health, operation)
              : StoreHealth.recordFailure(health, operation, now)
          expect(StoreHealth.isFailing(health, now)).toBe(false)
        }
      })
    )
  })

  it("returns true after the maximum number of consecutive failures, after any history", () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...operations), (history, operation) => {
        let { health, now } = replay(history)
        for (let count = 0; count < StoreHealth.MAX_FAILURES; count++) {
          now += 1_000
          health = StoreHealth.recordFailure(health, operation, now)
        }
        expect(StoreHealth.isFailing(health, now)).toBe(true)
      })
    )
  })

  it("returns false after HOLD_MS without failures, or once every operation succeeds", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { health, now } = replay(history)
        expect(StoreHealth.isFailing(health, now + StoreHealth.HOLD_MS)).toBe(false)
        const recovered = operations.reduce(StoreHealth.recordSuccess, health)
        expect(StoreHealth.isFailing(recovered, now)).toBe(false)
        expect(recovered.size).toBe(0)
      })
    )
  })

  it("returns true while one operation fails, even if another succeeds", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { health, now } = replay(history)
        const failures = Array.from({ length: StoreHealth.MAX_FAILURES })
        const failing = failures.reduce<StoreHealth.StoreHealth>(
          (before) => StoreHealth.recordFailure(before, "createPet", now),
          health
        )
        expect(StoreHealth.isFailing(StoreHealth.recordSuccess(failing, "listPets"), now)).toBe(true)
      })
    )
  })
})

describe("StoreHealth.recordFailure", () => {
  it("adds at most one entry per operation", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect(replay(history).health.size).toBeLessThanOrEqual(operations.length)
      })
    )
  })
})
