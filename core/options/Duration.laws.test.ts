import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Duration from "./Duration.ts"

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const MAX_MS = 3_650 * unitMs.d

const amounts = fc.nat({ max: MAX_MS })

describe("Duration", () => {
  it("parse accepts a duration in any unit if and only if it is within the range", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 10_000 }),
        fc.constantFrom("ms", "s", "m", "h", "d"),
        amounts,
        amounts,
        (count, unit, first, second) => {
          const [min, max] = [Math.min(first, second), Math.max(first, second)]
          const ms = count * unitMs[unit]
          const parsed = Duration.parse(min, max)(`${count}${unit}`)
          if (ms >= min && ms <= max) expect(parsed).toEqual(Result.succeed(ms))
          else expect(Result.isFailure(parsed)).toBe(true)
        }
      ),
      { numRuns: 1_000 }
    )
  })

  it("format returns a string that parses to the same value and is never longer than the value in ms", () => {
    const roundDurations = fc
      .tuple(fc.nat({ max: 400 }), fc.constantFrom(...Object.values(unitMs)))
      .map(([count, unit]) => count * unit)
    fc.assert(
      fc.property(fc.oneof(amounts, roundDurations), (ms) => {
        const formatted = Duration.format(ms)
        expect(Duration.parse(0, MAX_MS)(formatted)).toEqual(Result.succeed(ms))
        expect(formatted.length).toBeLessThanOrEqual(`${ms}ms`.length)
      }),
      { numRuns: 1_000 }
    )
  })

  it("parse returns an integer within the range, or a message that names the range, for any string", () => {
    const noise = fc
      .array(fc.constantFrom("0", "5", "00", "ms", "s", "m", "h", "d", "-", "+", ".", "e", " ", "\n"), {
        maxLength: 5
      })
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(fc.oneof(noise, fc.string({ unit: "binary" })), (text) => {
        const parsed = Duration.parse(5, 5_000)(text)
        if (Result.isFailure(parsed)) {
          expect(parsed.failure).toMatch(/^must be a duration from 5ms to 5s, such as /)
          return
        }
        expect(text).toMatch(/^[0-9]+[a-z]{1,2}$/)
        expect(Number.isInteger(parsed.success)).toBe(true)
        expect(parsed.success).toBeGreaterThanOrEqual(5)
        expect(parsed.success).toBeLessThanOrEqual(5_000)
      }),
      { numRuns: 2_000 }
    )
  })
})
