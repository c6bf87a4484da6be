import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ADMISSION } from "./StoreHealth.ts"
import * as StoreOutage from "./StoreOutage.ts"

interface Result {
  readonly operation: string
  readonly isFailure: boolean
  readonly pauseMs: number
}

const results: fc.Arbitrary<ReadonlyArray<Result>> = fc.array(
  fc.record({
    operation: fc.constantFrom("listPets", "createPet", ADMISSION),
    isFailure: fc.boolean(),
    pauseMs: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 3 * StoreOutage.SETTLED_MS }))
  }),
  { maxLength: 60 }
)

/** Plays the results and returns the changes with their times. */
const play = (history: ReadonlyArray<Result>) => {
  let outage: StoreOutage.StoreOutage | undefined
  let now = 0
  return history.map(({ isFailure, operation, pauseMs }) => {
    now += pauseMs
    const [change, next] = isFailure
      ? StoreOutage.failed(outage, operation, now)
      : StoreOutage.succeeded(outage, operation, now)
    outage = next
    return { change, now, isFailure, operation, isLost: outage !== undefined }
  })
}

describe("an outage", () => {
  it("begins with a failure and ends with a success, alternately", () => {
    fc.assert(
      fc.property(results, (history) => {
        let isLost = false
        let lostAt = 0
        for (const { change, isFailure, now } of play(history)) {
          if (change === undefined) continue
          expect(change._tag).toBe(isLost ? "Found" : "Lost")
          expect(isFailure).toBe(change._tag === "Lost")
          if (change._tag === "Found") expect(change.afterMs).toBe(now - lostAt)
          isLost = !isLost
          lostAt = now
        }
      })
    )
  })

  it("lasts from a failure until the failed operation succeeds, or any does after a while", () => {
    fc.assert(
      fc.property(results, (history) => {
        let failedAt = Number.NEGATIVE_INFINITY
        let failing = new Set<string>()
        for (const { isFailure, isLost, now, operation } of play(history)) {
          if (isFailure) {
            failedAt = now
            failing.add(operation)
          } else if (now - failedAt >= StoreOutage.SETTLED_MS) failing = new Set()
          else {
            failing.delete(operation)
            failing.delete(ADMISSION)
          }
          expect(isLost).toBe(failing.size > 0)
        }
      })
    )
  })
})
