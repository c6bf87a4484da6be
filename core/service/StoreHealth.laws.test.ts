import * as fc from "fast-check"
import { expect, it } from "vitest"
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

const run = (history: typeof histories extends fc.Arbitrary<infer History> ? History : never) => {
  let health = StoreHealth.initial
  let now = 0
  for (const { isFailure, operation, passMs } of history) {
    now += passMs
    health = isFailure ? StoreHealth.failed(health, operation, now) : StoreHealth.succeeded(health, operation)
  }
  return { health, now }
}

it("the stores do not count as failing before the maximum number of consecutive failures", () => {
  fc.assert(
    fc.property(fc.constantFrom(...operations), fc.array(fc.nat(5_000)), (operation, pauses) => {
      let health = StoreHealth.initial
      let now = 0
      for (const [index, pause] of pauses.entries()) {
        now += pause
        health =
          index % StoreHealth.MAX_FAILURES === StoreHealth.MAX_FAILURES - 1
            ? StoreHealth.succeeded(health, operation)
            : StoreHealth.failed(health, operation, now)
        expect(StoreHealth.isFailing(health, now)).toBe(false)
      }
    })
  )
})

it("the stores count as failing after the maximum number of consecutive failures, after any history", () => {
  fc.assert(
    fc.property(histories, fc.constantFrom(...operations), (history, operation) => {
      let { health, now } = run(history)
      for (let count = 0; count < StoreHealth.MAX_FAILURES; count++) {
        now += 1_000
        health = StoreHealth.failed(health, operation, now)
      }
      expect(StoreHealth.isFailing(health, now)).toBe(true)
    })
  )
})

it("the stores stop counting as failing after HOLD_MS without failures, or once every operation succeeds", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const { health, now } = run(history)
      expect(StoreHealth.isFailing(health, now + StoreHealth.HOLD_MS)).toBe(false)
      const healed = operations.reduce(StoreHealth.succeeded, health)
      expect(StoreHealth.isFailing(healed, now)).toBe(false)
      expect(healed.size).toBe(0)
    })
  )
})

it("a success of one operation does not reset the failures of another", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const { health, now } = run(history)
      const failures = Array.from({ length: StoreHealth.MAX_FAILURES })
      const failing = failures.reduce<StoreHealth.StoreHealth>(
        (before) => StoreHealth.failed(before, "createPet", now),
        health
      )
      expect(StoreHealth.isFailing(StoreHealth.succeeded(failing, "listPets"), now)).toBe(true)
    })
  )
})

it("the state has at most one entry per operation", () => {
  fc.assert(
    fc.property(histories, (history) => {
      expect(run(history).health.size).toBeLessThanOrEqual(operations.length)
    })
  )
})
