/** Uses up the limits of small keys with a bounded number of requests, and waits as servers tell. */
import * as Effect from "effect/Effect"
import type { Plan } from "../../../core/limits/Plan.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Exchange } from "../../model/Exchange.ts"
import type { Stopped, Tools } from "../Program.ts"
import { list, type Way } from "./Ways.ts"

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** More than a minute, even by a slightly different clock. */
export const MINUTE_PASSED = MINUTE + SECOND

export type SmallKey = "tiny" | "victim"

/** The plan of a small key; `undefined` if there is none, or if it is too large to be used up. */
export const planOf = ({ plans }: Tools, key: SmallKey, maxPerMinute = 100): Plan | undefined => {
  const plan = plans[key]
  return plan !== undefined && plan.perMinute <= maxPerMinute ? plan : undefined
}

/** Largest daily limit that is used up. */
export const MAX_PER_DAY = 200

/** Longest wait that a scenario lets pass because a response tells it. */
const MAX_WAIT = 31 * DAY

export const isDenied = ({ response }: Exchange): boolean =>
  response?.status === 429 || response?.status === 403

/** Returns the wait in milliseconds that a response tells; `undefined` if it tells none, or more than a month. */
export const toldWait = ({ response, to }: Exchange): number | undefined => {
  if (response === undefined) return undefined
  const seconds = RateHeaders.retryAfterSeconds({ response, receivedAt: to, byClock: true })
  return seconds === undefined || seconds * SECOND > MAX_WAIT ? undefined : seconds * SECOND
}

export const spend = (tools: Tools, key: SmallKey, way: Way): Effect.Effect<Exchange, Stopped> =>
  tools.sendOnce({ ...way.sent(tools), key })

/** Lets time pass until a moment (epoch ms), if it is ahead. */
export const until = (tools: Tools, moment: number): Effect.Effect<void, Stopped> =>
  Effect.flatMap(tools.now, (now) => (moment > now ? tools.advance(moment - now) : Effect.void))

/** Lets time pass until the limits of all keys are unused, as far as the run can wait. */
export const rest = (tools: Tools): Effect.Effect<void, Stopped> =>
  tools.advance(tools.hasClock ? 2 * DAY : MINUTE_PASSED)

/** Waits as a response tells, or for a minute. */
export const waitAsTold = (tools: Tools, exchange: Exchange): Effect.Effect<void, Stopped> =>
  tools.advance((toldWait(exchange) ?? MINUTE_PASSED) + (tools.hasClock ? 0 : SECOND / 2))

/** Sends requests in the given ways, one after the other, until one is denied; returns that or the last of `max`. */
export const useUp = Effect.fnUntraced(function* (
  tools: Tools,
  key: SmallKey,
  ways: ReadonlyArray<Way>,
  max: number
): Effect.fn.Return<Exchange, Stopped> {
  for (let sent = 0; ; sent++) {
    const exchange = yield* spend(tools, key, ways[sent % ways.length] ?? list)
    if (isDenied(exchange) || sent + 1 >= max) return exchange
  }
})

/** Most requests that any algorithm admits at once, and one more. */
export const burst = ({ perMinute }: Plan): number => 2 * perMinute + 1

/** Sends as many requests as a minute allows, and then waits for the next one, until one is denied; at most `max`. */
export const useUpDay = Effect.fnUntraced(function* (
  tools: Tools,
  plan: Plan,
  ways: ReadonlyArray<Way>,
  max: number = plan.perDay + 1
): Effect.fn.Return<Exchange, Stopped> {
  for (let sent = 0; ; sent++) {
    if (sent > 0 && sent % plan.perMinute === 0) yield* tools.advance(MINUTE_PASSED)
    const exchange = yield* spend(tools, "tiny", ways[sent % ways.length] ?? list)
    if (isDenied(exchange) || sent + 1 >= max) return exchange
  }
})

/** Waits as told until a key is admitted; at most `waits` times, each with one request. */
export const recover = Effect.fnUntraced(function* (
  tools: Tools,
  key: SmallKey,
  denied: Exchange,
  ways: ReadonlyArray<Way> = [list],
  waits = 5
): Effect.fn.Return<Exchange, Stopped> {
  // Where a response tells nothing, such as during a ban that is not announced.
  const untold = [MINUTE_PASSED, 10 * MINUTE, HOUR, DAY, 7 * DAY]
  let last = denied
  for (let wait = 0; wait < waits && isDenied(last); wait++) {
    yield* tools.advance(toldWait(last) ?? untold[wait] ?? DAY)
    last = yield* spend(tools, key, ways[wait % ways.length] ?? list)
  }
  return last
})
