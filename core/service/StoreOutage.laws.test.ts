import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ADMISSION } from "./StoreHealth.ts"
import * as StoreOutage from "./StoreOutage.ts"

interface Result {
  readonly operation: string
  readonly outcome: "failed" | "succeeded" | "counted"
  readonly pauseMs: number
}

const results: fc.Arbitrary<ReadonlyArray<Result>> = fc.array(
  fc.record({
    operation: fc.constantFrom("listPets", "createPet", ADMISSION, StoreOutage.LIMITS),
    outcome: fc.constantFrom("failed", "succeeded", "counted"),
    pauseMs: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 3 * StoreOutage.SETTLED_MS }))
  }),
  { maxLength: 60 }
)

/** Applies the results and returns the changes with their times. */
const play = (history: ReadonlyArray<Result>) => {
  let outage: StoreOutage.StoreOutage | undefined
  let now = 0
  return history.map(({ operation, outcome, pauseMs }) => {
    now += pauseMs
    const [change, next] = applyResult(outage, operation, outcome, now)
    outage = next
    return { change, now, outcome, operation, isOngoing: outage !== undefined }
  })
}

const applyResult = (
  outage: StoreOutage.StoreOutage | undefined,
  operation: string,
  outcome: Result["outcome"],
  now: number
) => {
  if (outcome === "failed") return StoreOutage.recordFailure(outage, operation, now)
  if (outcome === "counted") return StoreOutage.recordCounted(outage, now)
  return StoreOutage.recordSuccess(outage, [operation, ADMISSION], now)
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
          } else if (outcome === "counted") failing.delete(StoreOutage.LIMITS)
          else if (!failing.has(StoreOutage.LIMITS) && now - failedAt >= StoreOutage.SETTLED_MS)
            failing = new Set()
          else {
            failing.delete(operation)
            failing.delete(ADMISSION)
          }
          expect(isOngoing).toBe(failing.size > 0)
        }
      })
    )
  })
})
