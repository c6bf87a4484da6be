import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Backoff from "./Backoff.ts"

const delays = (served: ReadonlyArray<number>): ReadonlyArray<number> => {
  let state = Backoff.initial
  return served.map((servedMs) => {
    const [delay, next] = Backoff.next(state, servedMs)
    state = next
    return delay
  })
}

const shortLife = fc.integer({ min: 0, max: Backoff.HEALTHY_MS - 1 })
const longLife = fc.integer({ min: Backoff.HEALTHY_MS, max: 10 ** 12 })

describe("Backoff.next", () => {
  it("doubles the delay after each worker that exits early, from one second up to the maximum", () => {
    expect(delays([0, 0, 0, 0, 0, 0, 0])).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it("returns a delay from one second to the maximum after any number of workers", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(shortLife, longLife), { maxLength: 2_000 }), (served) => {
        for (const delay of delays(served)) {
          expect(delay).toBeGreaterThanOrEqual(Backoff.FIRST_MS)
          expect(delay).toBeLessThanOrEqual(Backoff.MAX_MS)
        }
      })
    )
  })

  it("starts again at one second after a worker that served for a minute", () => {
    fc.assert(
      fc.property(fc.array(shortLife), longLife, fc.array(shortLife), (before, healthy, after) => {
        const all = delays([...before, healthy, ...after])
        expect(all.slice(before.length)).toEqual(delays([0, ...after]))
      })
    )
  })
})
