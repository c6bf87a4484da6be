/**
 * Checks whether a clock belongs to the subject: `X-RateLimit-Reset` must move with it, or the limit of a key be
 * refilled. `Date` proves nothing, because many servers write the machine's time into it.
 */
import * as Effect from "effect/Effect"
import * as Moment from "../http/Moment.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import type { Stopped } from "../programs/Program.ts"
import type * as Traffic from "../programs/Traffic.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import { failSetup, type SetupError } from "./SetupError.ts"

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

/** Maximum number of requests that may be sent to use up the limit of a small key. */
const MAX_REQUESTS = 250

/** Real time may end a wait of up to this many seconds, so a refill after it proves nothing. */
const MAX_REAL_WAIT_SECONDS = 2

const fail = (reason: string) => failSetup(`the clock (--clock) does not work: ${reason}`)

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
  const describe = (time: number) => `the clock can be moved, and shows ${Moment.iso(time)}`
  const readReset = Effect.map(
    sendOnce({ path: "/pets?limit=1" }),
    ({ response }) => response && RateHeaders.of(response)?.resetAt
  )
  yield* move(REFILL_MS)
  let before = yield* readReset
  for (const { by, minimum } of moves) {
    const time = yield* move(by)
    const after = yield* readReset
    if (before !== undefined && after !== undefined && (after - before) * 1_000 >= minimum) {
      return describe(time)
    }
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
  if (keys.tiny !== undefined && (yield* isRefilled)) return describe(yield* now)
  return before === undefined
    ? "the clock can be moved, but whether it belongs to this server is unknown without X-RateLimit-Reset"
    : yield* fail(
        "it was advanced by 3 days, but the server's X-RateLimit-Reset hardly moved: it belongs to another server"
      )
})
