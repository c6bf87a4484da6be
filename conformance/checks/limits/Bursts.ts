/** How laws about limits spend them: from a rest, up to a denial, and in bounded numbers. */
import * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { type Failure, undecided, Violation } from "../../evaluation/Outcome.ts"

export const SECOND = 1_000
export const MINUTE = 60_000
export const DAY = 86_400_000

/** Largest plan per minute that laws use up. */
const MOST_PER_MINUTE = 100

/** Goes on with plans that can be used up in few requests. */
export const small = ({ plan }: Meter, mostPerMinute = MOST_PER_MINUTE): Effect.Effect<void, Failure> =>
  plan.perMinute <= mostPerMinute
    ? Effect.void
    : undecided(
        `${plan.perMinute} requests per minute are too many to use up: give a key of ${mostPerMinute} at most`
      )

/** Goes on with plans whose day can be used up too. */
export const smallDay = ({ plan }: Meter): Effect.Effect<void, Failure> =>
  plan.perDay <= 200
    ? Effect.void
    : undecided(`${plan.perDay} requests per day are too many to use up: give a key with at most 200`)

/** Lets whole windows pass, so that the minute's budget is there by any way of counting. */
export const rest = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  const begin = yield* meter.now
  yield* meter.refill
  // To wait for Reset is not enough: it may be that of the next request, contract §8.3 does not say.
  const waited = meter.canTravel ? 0 : (yield* meter.now) - begin
  yield* meter.pass(Math.max(MINUTE + SECOND - waited, 0))
})

/** Waits as a denial asks; where time really passes, a second more. */
export const waitForRetryAfter = (meter: Meter, denial: Reading): Effect.Effect<void, Failure> =>
  meter.pass(denial.retryAfter * SECOND + (meter.canTravel ? 0 : SECOND))

/**
 * One admitted request after a rest. An earlier law may have led to a ban: what is denied then gets one more
 * chance, after the wait that it asks for.
 */
export const rested = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
  yield* rest(meter)
  const first = yield* meter.spend
  if (first.admitted) return first
  yield* waitForRetryAfter(meter, first)
  yield* rest(meter)
  const again = yield* meter.spend
  if (again.admitted) return again
  return yield* new Violation({
    expected: "a request admitted after Retry-After and more than a minute of silence",
    actual: `429 again, Retry-After ${again.retryAfter} s`
  })
})

/** Most requests that a burst of no length can get through: two windows, if one ends meanwhile. */
export const mostInBurst = ({ plan }: Meter): number => 2 * plan.perMinute

/** Sends until one is denied or `most` are admitted; the denial comes last. */
export const untilDenied = Effect.fnUntraced(function* (
  meter: Meter,
  most: number
): Effect.fn.Return<ReadonlyArray<Reading>, Failure> {
  const readings: Array<Reading> = []
  while (readings.length <= most) {
    const reading = yield* meter.spend
    readings.push(reading)
    if (!reading.admitted) break
  }
  return readings
})

/** Uses the minute up: the denial that tells so. */
export const denial = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
  yield* small(meter)
  const last = (yield* untilDenied(meter, mostInBurst(meter) + refilled(meter, MINUTE))).at(-1)
  if (last !== undefined && !last.admitted) return last
  return yield* undecided("no 429 came about, though the plan per minute was used up")
})

/** Whole requests that a bucket gets back in so many ms, rounded up. */
export const refilled = ({ plan }: Meter, ms: number): number => Math.ceil((ms * plan.perMinute) / MINUTE)

/** Whether a response shows the minute; a plan with the same number for both windows cannot tell. */
export const showsMinute = ({ plan }: Meter, { limit }: Reading): boolean =>
  limit === plan.perMinute && plan.perMinute !== plan.perDay

/** Ms from the earliest that one can have been decided to the latest for the other. */
export const span = (first: Reading, last: Reading): number => last.between[1] - first.between[0]

/**
 * Fails only if the attempt fails three times: a window that ends in its middle makes one look wrong, hardly
 * three.
 */
export const thrice = <A>(attempt: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
  Effect.catchTag(attempt, "Violation", () => Effect.catchTag(attempt, "Violation", () => attempt))

/** The cheapest request with the small key. */
export const tinyList = { path: "/pets?limit=1", key: "tiny" } as const satisfies Sent

/** Uses up the tiny key's minute over plain HTTP, where its plan is not known. */
export const useUpTiny = Effect.fnUntraced(function* (http: Http): Effect.fn.Return<void, Failure> {
  for (let sent = 0; sent <= 250; sent++) {
    const { response } = yield* http.send(tinyList)
    if (response.status === 429) return
    if (response.status === 403) break
  }
  return yield* undecided("the small key meets no 429 in 250 requests: give one on a smaller plan")
})
