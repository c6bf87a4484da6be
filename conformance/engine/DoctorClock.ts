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
import { fault, send, type Unreadable } from "./DoctorRequest.ts"
import { SetupFault } from "./SetupFault.ts"

const DAY_MS = 86_400_000

/** First move of the clock, in milliseconds: more than a minute, so that the limit per minute is refilled. */
const FULL_MS = 61_000

/**
 * Second move of the clock, and the minimum by which `X-RateLimit-Reset` of the minute must then move, in milliseconds.
 * Real time alone moves it by at most a minute.
 */
const MINUTES_MS = { by: 150_000, least: 90_000 }

/**
 * Third move of the clock, and the minimum by which `X-RateLimit-Reset` of the day must then move, in milliseconds.
 * Real time alone moves it by at most a day.
 */
const DAYS_MS = { by: 3 * DAY_MS, least: 1.5 * DAY_MS }

/** Tolerance for `Date`, which has whole seconds; in milliseconds. */
const DATE_SLACK_MS = 3_000

/** Maximum number of requests that may be sent to use up the limit of a small key. */
const MOST_REQUESTS = 250

/** The times in a response, in epoch milliseconds. */
interface Shown {
  readonly reset: number | undefined
  readonly date: number | undefined
}

const dead = (reason: string) => new SetupFault({ reason: `the clock (--clock) does not work: ${reason}` })

const reached = <A>(reading: Effect.Effect<A, NoResponse>): Effect.Effect<A, SetupFault> =>
  Effect.mapError(reading, ({ reason }) => dead(reason))

const difference = (one: number | undefined, other: number | undefined): number =>
  one === undefined || other === undefined ? 0 : other - one

/** Moves the clock by `ms` milliseconds and returns the new time; fails if the clock moves by less. */
const moved = Effect.fnUntraced(function* (
  conversation: HttpSubject["conversation"],
  clock: ServerClock,
  ms: number
): Effect.fn.Return<number, SetupFault> {
  const from = yield* reached(clock.now)
  const to = yield* reached(clock.advance(ms))
  // The conversation must read the clock again, because it derives the times of its exchanges from it.
  yield* Effect.mapError(conversation.now, ({ message }) => dead(message))
  return to < from + ms
    ? yield* Effect.fail(dead(`it was advanced by ${ms} ms and moved by ${to - from} ms`))
    : to
})

/**
 * Returns a line with the time of the clock if the clock is proven to belong to the subject, or a line that says that
 * this cannot be decided without `X-RateLimit-Reset`; fails otherwise.
 */
export const examine = Effect.fnUntraced(function* (
  { conversation, target }: HttpSubject,
  clock: ServerClock,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupFault | Unreadable> {
  const shown = Effect.map(send(conversation, { path: "/pets?limit=1" }, trial), ({ response }): Shown => {
    const date = Date.parse(header(response, "date") ?? "")
    const rate = RateHeaders.of(response)
    return {
      reset: rate && rate.resetAt * 1_000,
      date: Number.isNaN(date) ? undefined : date
    }
  })
  yield* moved(conversation, clock, FULL_MS)
  let before = yield* shown
  for (const { by, least } of [MINUTES_MS, DAYS_MS]) {
    const now = yield* moved(conversation, clock, by)
    const after = yield* shown
    const isDateMoved = difference(before.date, after.date) >= by - DATE_SLACK_MS
    // If Date moves with the clock, it must also show the time of the clock.
    if (isDateMoved && Math.abs(difference(after.date, now)) > DATE_SLACK_MS) {
      const date = Moment.iso(after.date ?? 0)
      return yield* Effect.fail(
        dead(`it shows ${Moment.iso(now)}, the server's Date ${date}: it is not this server's`)
      )
    }
    if (isDateMoved || difference(before.reset, after.reset) >= least) return works(now)
    before = after
  }
  const isUnknown = before.reset === undefined
  if (target.keys.tiny !== undefined && (yield* refills(conversation, clock, trial)))
    return works(yield* reached(clock.now))
  if (isUnknown) {
    return `the clock can be moved; whether it is this server's cannot be seen without X-RateLimit-Reset`
  }
  return yield* fault(
    `the clock (--clock) does not work: it was advanced by 3 days, and the server's X-RateLimit-Reset hardly moved: it is not this server's`
  )
})

const works = (now: number): string => `the clock can be moved, and shows ${Moment.iso(now)}`

/** Uses up the tiny key. Returns whether the key is admitted after the clock moved by a Retry-After of over 2 s. */
const refills = Effect.fnUntraced(function* (
  conversation: HttpSubject["conversation"],
  clock: ServerClock,
  trial: Trial.Trial
): Effect.fn.Return<boolean, SetupFault | Unreadable> {
  const list = send(conversation, { path: "/pets?limit=1", key: "tiny" }, trial)
  for (let sent = 0; sent < MOST_REQUESTS; sent++) {
    const exchange = yield* list
    if (exchange.response.status !== 429) continue
    const seconds = RateHeaders.retryAfterSeconds(exchange) ?? 60
    // Real time may end a wait of up to 2 s, so a refill after it proves nothing.
    yield* moved(conversation, clock, Math.max(seconds, 2) * 1_000)
    return (yield* list).response.status === 200 && seconds > 2
  }
  return false
})
