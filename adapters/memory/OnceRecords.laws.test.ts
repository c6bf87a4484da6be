import * as fc from "fast-check"
import { expect, it } from "vitest"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import { OnceRecords } from "./OnceRecords.ts"

const START = 1_800_000_000_000

const pet = new Pet(1n, { name: "Rex", categoryId: 1n, status: "available" })

const once = (key: number, now: number): Once.Once => ({
  caller: `key_${key % 2}`,
  key: String(key),
  fingerprint: "f".repeat(64),
  now
})

/** Milliseconds since the previous request, up to a little more than the time for which records are kept. */
const wait = fc.oneof(
  fc.integer({ min: 0, max: Once.RETENTION_MS / 4 }),
  fc.constantFrom(0, Once.RETENTION_MS - 1, Once.RETENTION_MS, Once.RETENTION_MS + 1)
)

it("OnceRecords contains the records of the past 24 hours, and finds each until it expires", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ wait, key: fc.nat({ max: 30 }) }), { maxLength: 60, size: "max" }),
      (requests) => {
        const records = new OnceRecords<Pet>()
        const expiries = new Map<number, number>()
        let now = START
        for (const { key, wait } of requests) {
          now += wait
          for (const [id, expiresAt] of expiries) if (expiresAt <= now) expiries.delete(id)
          const found = records.find(once(key, now))
          expect(found?.expiresAt).toBe(expiries.get(key))
          if (found === undefined) {
            records.add(once(key, now), pet)
            expiries.set(key, now + Once.RETENTION_MS)
          }
          expect(records.size).toBe(expiries.size)
        }
      }
    )
  )
})

it("OnceRecords deletes all records once the latest has expired, even if the clock was set back", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -Once.RETENTION_MS, max: Once.RETENTION_MS }), {
        maxLength: 40,
        size: "max"
      }),
      (steps) => {
        const records = new OnceRecords<Pet>()
        let now = START
        let latest = now
        for (const [key, step] of steps.entries()) {
          now += step
          latest = Math.max(latest, now)
          if (records.find(once(key, now)) === undefined) records.add(once(key, now), pet)
        }
        records.find(once(-1, latest + Once.RETENTION_MS))
        expect(records.size).toBe(0)
      }
    )
  )
})
