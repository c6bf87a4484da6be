/** Creates the clock of a store from the option `now`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { InvalidOption } from "../../core/options/InvalidOption.ts"

/** Maximum distance of a `Date` from 1970, in milliseconds. */
const MAX_MS = 8.64e15

/**
 * Creates the clock, whose times are whole milliseconds; only its monotonic time and `sleep` are those of the machine.
 * Fails if `now` returns no time. If it does so later, whatever needs the time dies with the same reason.
 */
export const make = Effect.fnUntraced(function* (
  now: () => number
): Effect.fn.Return<Clock.Clock, InvalidOption> {
  const machine = yield* Clock.Clock
  const reason = reasonFor(now())
  if (reason !== undefined) return yield* Effect.fail(new InvalidOption({ option: "now", reason }))
  const milliseconds = (): number => {
    const value = now()
    const reason = reasonFor(value)
    if (reason !== undefined) throw new TypeError(`the option now ${reason}`)
    return Math.floor(value)
  }
  const nanoseconds = (): bigint => BigInt(milliseconds()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: milliseconds,
    currentTimeMillis: Effect.sync(milliseconds),
    currentTimeNanosUnsafe: nanoseconds,
    currentTimeNanos: Effect.sync(nanoseconds),
    monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: machine.monotonicTimeNanos,
    sleep: (duration) => machine.sleep(duration)
  }
})

/** Returns why the result of `now` is no time; `undefined` if it is one. */
const reasonFor = (value: unknown): string | undefined => {
  if (typeof value === "number" && Math.abs(value) <= MAX_MS) return undefined
  const returned = typeof value === "number" ? String(value) : `a value of the type ${typeof value}`
  return `must return epoch milliseconds, not ${returned}`
}
