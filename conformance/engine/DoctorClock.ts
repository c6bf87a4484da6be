/**
 * Checks whether a clock belongs to the subject. The contract names no header with the time of the service, and many
 * servers write the machine's time into `Date`. The clock is the subject's if `X-RateLimit-Reset` or `Date` moves with
 * it, or if the limit of a key is refilled. A `Date` that does not move proves nothing.
 */
import * as Effect from "effect/Effect"
import type * as Trial from "../evaluation/Trial.ts"
import * as Moment from "../http/Moment.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import type { ServerClock } from "../http/ServerClock.ts"
import { header, type NoResponse } from "../http/Wire.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import { failSetup, send, type Unreadable } from "./DoctorRequest.ts"
import { SetupError } from "./SetupError.ts"

const DAY_MS = 86_400_000

/** First move of the clock, in milliseconds: more than a minute, so that the per-minute limit is refilled. */
const REFILL_MS = 61_000

/**
 * Second move of the clock, and the minimum by which `X-RateLimit-Reset` of the minute must then move, in milliseconds.
 * Real time alone moves it by at most a minute.
 */
const MINUTES_MS = { by: 150_000, minimum: 90_000 }

/**
 * Third move of the clock, and the minimum by which `X-RateLimit-Reset` of the day must then move, in milliseconds.
 * Real time alone moves it by at most a day.
 */
const DAYS_MS = { by: 3 * DAY_MS, minimum: 1.5 * DAY_MS }

/** Tolerance for `Date`, which has whole seconds; in milliseconds. */
const DATE_SLACK_MS = 3_000

/** Maximum number of requests that may be sent to use up the limit of a small key. */
const MAX_REQUESTS = 250

/** The times in a response, in epoch milliseconds. */
interface ResponseTimes {
  readonly reset: number | undefined
  readonly date: number | undefined
}

const clockError = (reason: string) =>
  new SetupError({ reason: `the clock (--clock) does not work: ${reason}` })

const callClock = <A>(reading: Effect.Effect<A, NoResponse>): Effect.Effect<A, SetupError> =>
  Effect.mapError(reading, ({ reason }) => clockError(reason))

const difference = (before: number | undefined, after: number | undefined): number =>
  before === undefined || after === undefined ? 0 : after - before

/** Moves the clock by `ms` milliseconds and returns the new time; fails if the clock moves by less. */
const move = Effect.fnUntraced(function* (
  conversation: HttpSubject["conversation"],
  clock: ServerClock,
  ms: number
): Effect.fn.Return<number, SetupError> {
  const from = yield* callClock(clock.now)
  const to = yield* callClock(clock.advance(ms))
  // The conversation must read the clock again, because it derives the times of its exchanges from it.
  yield* Effect.mapError(conversation.now, ({ message }) => clockError(message))
  return to < from + ms
    ? yield* Effect.fail(clockError(`it was advanced by ${ms} ms but moved by ${to - from} ms`))
    : to
})

/**
 * Returns a line with the time of the clock if the clock is proven to belong to the subject. Returns another line if
 * this is unknown because `X-RateLimit-Reset` is missing. Fails otherwise.
 */
export const examine = Effect.fnUntraced(function* (
  { conversation, target }: HttpSubject,
  clock: ServerClock,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupError | Unreadable> {
  const readTimes = Effect.map(
    send(conversation, { path: "/pets?limit=1" }, trial),
    ({ response }): ResponseTimes => {
      const date = Date.parse(header(response, "date") ?? "")
      const rate = RateHeaders.of(response)
      return {
        reset: rate && rate.resetAt * 1_000,
        date: Number.isNaN(date) ? undefined : date
      }
    }
  )
  yield* move(conversation, clock, REFILL_MS)
  let before = yield* readTimes
  for (const { by, minimum } of [MINUTES_MS, DAYS_MS]) {
    const now = yield* move(conversation, clock, by)
    const after = yield* readTimes
    const isDateMoved = difference(before.date, after.date) >= by - DATE_SLACK_MS
    // If Date moves with the clock, it must also show the time of the clock.
    if (isDateMoved && Math.abs(difference(after.date, now)) > DATE_SLACK_MS) {
      const date = Moment.iso(after.date ?? 0)
      return yield* Effect.fail(
        clockError(
          `it shows ${Moment.iso(now)}, but the server's Date is ${date}: it belongs to another server`
        )
      )
    }
    if (isDateMoved || difference(before.reset, after.reset) >= minimum) return describeTime(now)
    before = after
  }
  const hasNoReset = before.reset === undefined
  if (target.keys.tiny !== undefined && (yield* testRefill(conversation, clock, trial)))
    return describeTime(yield* callClock(clock.now))
  if (hasNoReset) {
    return `the clock can be moved, but whether it belongs to this server is unknown without X-RateLimit-Reset`
  }
  return yield* failSetup(
    `the clock (--clock) does not work: it was advanced by 3 days, but the server's X-RateLimit-Reset hardly moved: it belongs to another server`
  )
})

const describeTime = (now: number): string => `the clock can be moved, and shows ${Moment.iso(now)}`

/** Real time may end a wait of up to this many seconds, so a refill after it proves nothing. */
const MAX_REAL_WAIT_SECONDS = 2

/** Uses up the tiny key; returns whether it is admitted again after the clock moved by a Retry-After of over 2 s. */
const testRefill = Effect.fnUntraced(function* (
  conversation: HttpSubject["conversation"],
  clock: ServerClock,
  trial: Trial.Trial
): Effect.fn.Return<boolean, SetupError | Unreadable> {
  const list = send(conversation, { path: "/pets?limit=1", key: "tiny" }, trial)
  for (let sent = 0; sent < MAX_REQUESTS; sent++) {
    const exchange = yield* list
    if (exchange.response.status !== 429) continue
    const seconds = RateHeaders.retryAfterSeconds(exchange) ?? 60
    yield* move(conversation, clock, Math.max(seconds, MAX_REAL_WAIT_SECONDS) * 1_000)
    return (yield* list).response.status === 200 && seconds > MAX_REAL_WAIT_SECONDS
  }
  return false
})
