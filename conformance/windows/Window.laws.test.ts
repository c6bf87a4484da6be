import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Algorithm as TrueAlgorithm } from "../selftest/plain/Choices.ts"
import * as Windows from "../selftest/plain/Windows.ts"
import { span } from "./Span.ts"
import * as Window from "./Window.ts"

/** The algorithms of the plain server, and the same in the model. */
const pairs = [
  ["token bucket", "token bucket"],
  ["clock window", "window by the clock"],
  ["window from first use", "window from first use"],
  ["sliding log", "sliding log"]
] as const satisfies ReadonlyArray<readonly [TrueAlgorithm, Window.Algorithm]>

const LIMIT = 5

const step = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70_000 }), fc.integer({ min: 0, max: 300_000 })),
  /** How much earlier and later than the truth the client believes the moment to be. */
  before: fc.integer({ min: 0, max: 1_500 }),
  after: fc.integer({ min: 0, max: 1_500 }),
  isRemainingShown: fc.boolean(),
  /** Whether the service counts the request, if it is admitted; the client knows it of those that count. */
  isCounted: fc.boolean(),
  resetShown: fc.constantFrom(undefined, "window end", "all left again", "one more left")
})

const contains = ({ hi, lo }: { readonly lo: number; readonly hi: number }, value: number): boolean =>
  lo <= value && value <= hi

describe("every window", () => {
  it.each(pairs)("that counts as the service does (%s) never contradicts it", (real, algorithm) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(200_000), (steps, start) => {
        const truth = Windows.make(real, LIMIT, 60_000, 0)
        let now = 1_796_115_600_000 + start
        let window = Window.make(algorithm, LIMIT, 60_000, span(now - 1_500, now + 1_500))
        for (const { after, before, isCounted, isRemainingShown, resetShown, waitMs } of steps) {
          now += waitMs
          const at = span(now - before, now + after)
          expect(contains(window.left(at), truth.left(now))).toBe(true)
          expect(window.freeAt(at)).toBeLessThanOrEqual(Math.max(now, truth.freeAt(now)) + 1)
          if (!isCounted) window = window.take(at, span(0, 1))
          else if (truth.freeAt(now) <= now) {
            truth.take(now)
            const learned = window.learnLeft(at, span(1, Number.POSITIVE_INFINITY))
            expect(learned).toBeDefined()
            window = (learned ?? window).take(at, span(1))
          }
          if (isRemainingShown) window = defined(window.learnLeft(at, span(truth.left(now))))
          if (resetShown !== undefined) {
            const reset = Math.ceil(truth.resets(now)[resetShown] / 1_000) * 1_000
            window = defined(window.learnReset(at, reset))
          }
        }
      }),
      { numRuns: 300 }
    )
  })

  // Of a sliding log, the requests before the first one expire at unknown times.
  it.each(pairs.slice(0, 3))(
    "knows how many requests are left once it has seen it (%s)",
    (_real, algorithm) => {
      const at = span(1_796_115_600_000)
      const seen = Window.make(algorithm, LIMIT, 60_000, at).learnLeft(at, span(3))
      expect(seen?.left(at)).toEqual(span(3))
      expect(seen?.take(at, span(1)).left(at)).toEqual(span(2))
      expect(seen?.take(at, span(1)).learnLeft(at, span(3))).toBeUndefined()
    }
  )

  it("of a token bucket cannot be one of a clock, and the reverse", () => {
    const at = span(1_796_115_600_000)
    const later = span(at.lo + 30_000)
    const bucket = Window.make("token bucket", 60, 60_000, at).learnLeft(at, span(0))
    const byClock = Window.make("window by the clock", 60, 60_000, at)
      .learnLeft(at, span(0))
      ?.learnReset(at, at.lo + 60_000)
    expect(bucket?.learnLeft(later, span(30))).toBeDefined()
    expect(bucket?.learnLeft(later, span(0))).toBeUndefined()
    expect(byClock?.learnLeft(later, span(0))).toBeDefined()
    expect(byClock?.learnLeft(later, span(30))).toBeUndefined()
  })
})

const defined = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("the window contradicts the service")
  return value
}
