/**
 * Checks whether a clock belongs to the subject. The contract names no header with the time of the service, and many
 * servers write the machine's time into `Date`. The clock is the subject's if `X-RateLimit-Reset` or `Date` moves with
 * it, or if the limit of a key is refilled. A `Date` that does not move proves nothing.
 */
import * as Effect from "effect/Effect"
import * as Moment from "../http/Moment.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { header } from "../http/Wire.ts"
import type { Stopped } from "../programs/Program.ts"
import type * as Traffic from "../programs/Traffic.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import { SetupError } from "./SetupError.ts"

const DAY_MS = 86_400_000

/** First move of the clock, in milliseconds: more than a minute, so that the per-minute limit is refilled. */
const REFILL_MS = 61_000

/**
 * Further moves of the clock, and the minimum by which `X-RateLimit-Reset` must then move, in milliseconds: real time
 * alone moves that of the minute by at most a minute, and that of the day by at most a day.
 */
const moves = [
  { by: 150_000, minimum: 90_000 },
  { by: 3 * DAY_MS, minimum: 1.5 * DAY_MS }
]

/** Tolerance for `Date`, which has whole seconds; in milliseconds. */
const DATE_SLACK_MS = 3_000

/** Maximum number of requests that may be sent to use up the limit of a small key. */
const MAX_REQUESTS = 250

/** Real time may end a wait of up to this many seconds, so a refill after it proves nothing. */
const MAX_REAL_WAIT_SECONDS = 2

const fail = (reason: string) =>
  Effect.fail(new SetupError({ reason: `the clock (--clock) does not work: ${reason}` }))

const difference = (before: number | undefined, after: number | undefined): number =>
  before === undefined || after === undefined ? 0 : after - before

/**
 * Returns a line with the time of the clock if the clock is proven to belong to the subject. Returns another line if
 * this is unknown because `X-RateLimit-Reset` is missing. Fails otherwise.
 */
export const examine = Effect.fnUntraced(function* (
  { keys }: HttpTarget,
  { advance, now, sendOnce }: Traffic.Traffic
): Effect.fn.Return<string, SetupError | Stopped> {
  const move = (ms: number) =>
    Effect.andThen(
      Effect.catchTag(advance(ms), "Stopped", ({ reason }) => fail(reason)),
      now
    )
  const readTimes = Effect.map(sendOnce({ path: "/pets?limit=1" }), ({ response }) => {
    const date = Date.parse((response && header(response, "date")) ?? "")
    const rate = response && RateHeaders.of(response)
    return { reset: rate && rate.resetAt * 1_000, date: Number.isNaN(date) ? undefined : date }
  })
  const describeTime = (time: number) => `the clock can be moved, and shows ${Moment.iso(time)}`
  yield* move(REFILL_MS)
  let before = yield* readTimes
  for (const { by, minimum } of moves) {
    const time = yield* move(by)
    const after = yield* readTimes
    const isDateMoved = difference(before.date, after.date) >= by - DATE_SLACK_MS
    // If Date moves with the clock, it must also show the time of the clock.
    if (isDateMoved && Math.abs(difference(after.date, time)) > DATE_SLACK_MS) {
      const date = Moment.iso(after.date ?? 0)
      return yield* fail(
        `it shows ${Moment.iso(time)}, but the server's Date is ${date}: it belongs to another server`
      )
    }
    if (isDateMoved || difference(before.reset, after.reset) >= minimum) return describeTime(time)
    before = after
  }
  const isRefilled = Effect.gen(function* () {
    const list = sendOnce({ path: "/pets?limit=1", key: "tiny" })
    for (let sent = 0; sent < MAX_REQUESTS; sent++) {
      const { response, to } = yield* list
      if (response?.status !== 429) continue
      const seconds = RateHeaders.retryAfterSeconds({ response, receivedAt: to }) ?? 60
      yield* move(Math.max(seconds, MAX_REAL_WAIT_SECONDS) * 1_000)
      return (yield* list).response?.status === 200 && seconds > MAX_REAL_WAIT_SECONDS
    }
    return false
  })
  if (keys.tiny !== undefined && (yield* isRefilled)) return describeTime(yield* now)
  return before.reset === undefined
    ? "the clock can be moved, but whether it belongs to this server is unknown without X-RateLimit-Reset"
    : yield* fail(
        "it was advanced by 3 days, but the server's X-RateLimit-Reset hardly moved: it belongs to another server"
      )
})
