/** Waits for full limits, and uses them up with a bounded number of requests. */
import * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { type Failure, undecided, Violation } from "../../evaluation/Outcome.ts"

export const SECOND = 1_000
export const MINUTE = 60_000
export const DAY = 86_400_000

/** Maximum per-minute limit of a plan that laws use up by default. */
const MAX_PER_MINUTE = 100

/** Maximum daily limit of a plan that laws use up. */
const MAX_PER_DAY = 200

/** Maximum number of admitted requests before a law gives up using up the small key. */
const MAX_ADMITTED = 250

/** Fails with `Undecided` if the per-minute limit is too large to use up. */
export const requireSmall = ({ plan }: Meter, maxPerMinute = MAX_PER_MINUTE): Effect.Effect<void, Failure> =>
  plan.perMinute <= maxPerMinute
    ? Effect.void
    : undecided(
        `${plan.perMinute} requests per minute are too many to use up: use a key with at most ${maxPerMinute}`
      )

/** Fails with `Undecided` if the daily limit is too large to use up. */
export const requireSmallDay = ({ plan }: Meter): Effect.Effect<void, Failure> =>
  plan.perDay <= MAX_PER_DAY
    ? Effect.void
    : undecided(
        `${plan.perDay} requests per day are too many to use up: use a key with at most ${MAX_PER_DAY}`
      )

/** Waits until the whole per-minute limit is available, whatever the algorithm of the subject. */
export const rest = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  const begin = yield* meter.now
  yield* meter.refill
  // Waiting for Reset is not enough: contract §8.3 leaves its meaning open, and it may be the time of the next request.
  const waited = meter.hasClock ? 0 : (yield* meter.now) - begin
  yield* meter.advance(Math.max(MINUTE + SECOND - waited, 0))
})

/** Waits for the Retry-After of a denial, and a second more if time cannot be moved. */
export const waitForRetryAfter = (meter: Meter, denial: Reading): Effect.Effect<void, Failure> =>
  meter.advance(denial.retryAfter * SECOND + (meter.hasClock ? 0 : SECOND))

/**
 * Rests, then sends one request, which must be admitted. An earlier law may have caused a ban, so a denied request is
 * sent once more after its Retry-After.
 */
export const spendAfterRest = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
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

/** Returns the maximum number of requests admitted in a burst: those of two windows, because one may end during it. */
export const maxInBurst = ({ plan }: Meter): number => 2 * plan.perMinute

/** Sends at most `max + 1` requests, until one is denied; returns all readings, the denial last. */
export const spendUntilDenied = Effect.fnUntraced(function* (
  meter: Meter,
  max: number
): Effect.fn.Return<ReadonlyArray<Reading>, Failure> {
  const readings: Array<Reading> = []
  while (readings.length <= max) {
    const reading = yield* meter.spend
    readings.push(reading)
    if (!reading.admitted) break
  }
  return readings
})

/**
 * Uses up the per-minute limit and returns the denial. Fails with `Undecided` if the limit is too large or no request
 * is denied.
 */
export const provokeDenial = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<Reading, Failure> {
  yield* requireSmall(meter)
  const last = (yield* spendUntilDenied(meter, maxInBurst(meter) + refilled(meter, MINUTE))).at(-1)
  if (last !== undefined && !last.admitted) return last
  return yield* undecided("there was no 429, although the per-minute limit was used up")
})

/** Returns the number of requests that a bucket regains in `ms` milliseconds, rounded up. */
export const refilled = ({ plan }: Meter, ms: number): number => Math.ceil((ms * plan.perMinute) / MINUTE)

/** Whether a response shows the per-minute limit; false if both windows have the same limit. */
export const showsMinute = ({ plan }: Meter, { limit }: Reading): boolean =>
  limit === plan.perMinute && plan.perMinute !== plan.perDay

/** Returns the ms from the earliest possible decision of one reading to the latest of another. */
export const span = (first: Reading, last: Reading): number =>
  last.decidedBetween[1] - first.decidedBetween[0]

/**
 * Repeats an attempt that ends in a `Violation`, up to three attempts in all: the end of a window can spoil one
 * attempt, but is unlikely to spoil three.
 */
export const tryThrice = <A>(attempt: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
  Effect.catchTag(attempt, "Violation", () => Effect.catchTag(attempt, "Violation", () => attempt))

/** A request for one animal with the small key: the cheapest request. */
export const tinyList = { path: "/pets?limit=1", key: "tiny" } as const satisfies Sent

/**
 * Sends requests with the small key until a 429. Fails with `Undecided` at a 403, or if there is no 429 in 251
 * requests.
 */
export const useUpTiny = Effect.fnUntraced(function* (http: Http): Effect.fn.Return<void, Failure> {
  for (let sent = 0; sent <= MAX_ADMITTED; sent++) {
    const { response } = yield* http.send(tinyList)
    if (response.status === 429) return
    if (response.status === 403) break
  }
  return yield* undecided(`the small key gets no 429 in ${MAX_ADMITTED} requests: use one on a smaller plan`)
})
