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
  const health = new StoreHealth.StoreHealth()
  let now = 0
  for (const { isFailure, operation, passMs } of history) {
    now += passMs
    if (isFailure) health.recordFailure(operation, now)
    else health.recordSuccess(operation)
  }
  return { health, now }
}

describe("StoreHealth.isFailing", () => {
  it("returns false before the maximum number of consecutive failures", () => {
    fc.assert(
      fc.property(fc.constantFrom(...operations), fc.array(fc.nat(5_000)), (operation, pauses) => {
        const health = new StoreHealth.StoreHealth()
        let now = 0
        for (const [index, pause] of pauses.entries()) {
          now += pause
          if (index % StoreHealth.MAX_FAILURES === StoreHealth.MAX_FAILURES - 1)
            health.recordSuccess(operation)
          else health.recordFailure(operation, now)
          expect(health.isFailing(now)).toBe(false)
        }
      })
    )
  })

  it("returns true after the maximum number of consecutive failures, after any history", () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...operations), (history, operation) => {
        const { health, now: start } = replay(history)
        let now = start
        for (let count = 0; count < StoreHealth.MAX_FAILURES; count++) {
          now += 1_000
          health.recordFailure(operation, now)
        }
        expect(health.isFailing(now)).toBe(true)
      })
    )
  })

  it("returns false after HOLD_MS without failures, or once every operation succeeds", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { health, now } = replay(history)
        expect(health.isFailing(now + StoreHealth.HOLD_MS)).toBe(false)
        for (const operation of operations) health.recordSuccess(operation)
        expect(health.isFailing(now)).toBe(false)
        expect(health.streaks.size).toBe(0)
      })
    )
  })

  it("returns true while one operation fails, even if another succeeds", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { health, now } = replay(history)
        for (let count = 0; count < StoreHealth.MAX_FAILURES; count++) health.recordFailure("createPet", now)
        health.recordSuccess("listPets")
        expect(health.isFailing(now)).toBe(true)
      })
    )
  })
})

describe("StoreHealth.recordFailure", () => {
  it("adds at most one entry per operation", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect(replay(history).health.streaks.size).toBeLessThanOrEqual(operations.length)
      })
    )
  })
})

interface Result {
  readonly operation: string
  readonly outcome: "failed" | "succeeded" | "counted"
  readonly pauseMs: number
}

const results: fc.Arbitrary<ReadonlyArray<Result>> = fc.array(
  fc.record({
    operation: fc.constantFrom(...operations, StoreHealth.LIMITS),
    outcome: fc.constantFrom("failed", "succeeded", "counted"),
    pauseMs: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 3 * StoreHealth.SETTLED_MS }))
  }),
  { maxLength: 60 }
)

/** Applies the results and returns the changes with their times. */
const play = (history: ReadonlyArray<Result>) => {
  const health = new StoreHealth.StoreHealth()
  let now = 0
  return history.map(({ operation, outcome, pauseMs }) => {
    now += pauseMs
    const change = applyResult(health, operation, outcome, now)
    return { change, now, outcome, operation, isOngoing: health.isOutage }
  })
}

const applyResult = (
  health: StoreHealth.StoreHealth,
  operation: string,
  outcome: Result["outcome"],
  now: number
) => {
  if (outcome === "failed")
    return operation === StoreHealth.LIMITS
      ? health.addToOutage(operation, now)
      : health.recordFailure(operation, now)
  if (outcome === "counted") return health.recordCounted(now)
  return health.removeFromOutage([operation, StoreHealth.ADMISSION], now)
}

describe("an outage", () => {
  it("begins with a failure, ends with a success, and then reports its duration", () => {
    fc.assert(
      fc.property(results, (history) => {
        let isOngoing = false
        let startedAt = 0
        for (const { change, now, outcome } of play(history)) {
          if (change === undefined) continue
          expect(change._tag).toBe(isOngoing ? "Ended" : "Began")
          expect(outcome === "failed").toBe(change._tag === "Began")
          if (change._tag === "Ended") expect(change.afterMs).toBe(now - startedAt)
          isOngoing = !isOngoing
          startedAt = now
        }
      })
    )
  })

  it("lasts until all failed operations succeed, or any succeeds after SETTLED_MS while limits are available", () => {
    fc.assert(
      fc.property(results, (history) => {
        let failedAt = Number.NEGATIVE_INFINITY
        let failing = new Set<string>()
        for (const { isOngoing, now, operation, outcome } of play(history)) {
          if (outcome === "failed") {
            failedAt = now
            failing.add(operation)
          } else if (outcome === "counted") failing.delete(StoreHealth.LIMITS)
          else if (!failing.has(StoreHealth.LIMITS) && now - failedAt >= StoreHealth.SETTLED_MS)
            failing = new Set()
          else {
            failing.delete(operation)
            failing.delete(StoreHealth.ADMISSION)
          }
          expect(isOngoing).toBe(failing.size > 0)
        }
      })
    )
  })
})
