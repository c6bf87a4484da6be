/** Uses up the limits of small keys with a bounded number of requests, and waits as servers tell. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Plan } from "../../../core/limits/Plan.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Exchange } from "../../model/Exchange.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import { type Program, program, type Sent, Stopped, type Tools } from "../Program.ts"
import { DAY, HOUR, MINUTE, margins, SECOND } from "./Moments.ts"

/** More than a minute, even by a slightly different clock. */
export const MINUTE_PASSED = RateHeaders.MINUTE_PASSED_MS

/** The largest limits that scenarios use up again and again, and the largest that some use up once. */
const MAX_PER_MINUTE = 20
export const MAX_PER_DAY = 200
export const MAX_ONCE = 100

/** The longest wait that a scenario lets pass because a response tells it. */
const MAX_WAIT = 31 * DAY

/** What a scenario is about: a small key, and the largest limits that it can use up. */
interface About extends Omit<Program, "name" | "needs" | "run"> {
  readonly key: "tiny" | "victim"
  readonly maxPerMinute?: number
  readonly maxPerDay?: number
  /** Whether the scenario is also of use in real time. */
  readonly isTimeless?: boolean
}

/** A key with small limits, and ways to use them up. */
export type Small = Effect.Success<ReturnType<typeof small>>

/** Returns the small key of a name; fails unless its limits are small enough to be used up. */
const small = Effect.fnUntraced(function* (
  tools: Tools,
  { key, maxPerDay = Infinity, maxPerMinute = MAX_PER_MINUTE }: About
) {
  const plan: Plan = tools.keys[key] ?? { perMinute: Infinity, perDay: 0 }
  const { perDay, perMinute } = plan
  const excess =
    perMinute > maxPerMinute ? `${maxPerMinute} requests per minute` : `${maxPerDay} requests per day`
  if (perMinute > maxPerMinute || perDay > maxPerDay)
    return yield* new Stopped({ reason: `it uses up the ${key} key: give one with at most ${excess}` })

  /** Sends a request with the key. */
  const spend = (call: Calls.Call = Calls.lists["whole list"]) =>
    Effect.flatMap(call(tools), (sent) => tools.sendOnce({ ...sent, key }))

  /**
   * Sends calls in turn, at most `max`, until one is denied that is not the last one before a pause; returns the last
   * exchange.
   */
  const useUp = Effect.fnUntraced(function* (
    calls = Calls.looks,
    // The most requests that any algorithm admits at once, and one more.
    max = 2 * perMinute + 1,
    pauseAfter = Infinity
  ) {
    for (let sent = 1; ; sent++) {
      const exchange = yield* spend(calls[sent % calls.length])
      const isPaused = sent % pauseAfter === 0
      if ((isDenied(exchange) && !isPaused) || sent >= max) return exchange
      if (isPaused) yield* tools.advance(MINUTE_PASSED)
    }
  })

  /** Uses up a day within its minutes, by `each` requests in each of them; sends at most `max` requests. */
  const useUpDay = (calls?: ReadonlyArray<Calls.Call>, max?: number, each = perMinute) =>
    useUp(calls, max ?? Math.ceil((perDay / perMinute) * each) + 1, each)

  /** Waits as told until the key is admitted, sometimes too short at first; then at most five times, each with one request. */
  const recover = Effect.fnUntraced(function* (denied: Exchange, calls = Calls.looks) {
    let last = denied
    if (tools.hasClock && (yield* Random.nextBoolean)) {
      yield* until(tools, (toldTime(denied) ?? 0) - (yield* Draw.one(margins)))
      last = yield* spend()
    }
    for (const [wait, ms] of untold.entries()) {
      if (!isDenied(last)) return
      yield* tools.advance((toldWait(last) ?? ms) + (tools.hasClock ? 0 : SECOND / 2))
      last = yield* spend(calls[wait % calls.length])
    }
  })
  return { plan, spend, useUp, useUpDay, recover }
})

/** Waits where a response tells none, such as during a ban that is not announced. */
const untold = [MINUTE_PASSED, 10 * MINUTE, HOUR, DAY, 7 * DAY]

/** Defines a scenario about a small key whose limits are unused, before and after. */
export const about = (
  name: string,
  { isTimeless = false, ...given }: About,
  run: (tools: Tools, key: Small) => Effect.fn.Return<void, Stopped>
): Program => {
  const plan = given.key === "tiny" ? "tinyPlan" : "victimKey"
  return program(name, { ...given, needs: isTimeless ? [plan] : [plan, "clock"] }, function* (tools) {
    const key = yield* small(tools, given)
    if (tools.hasClock) yield* rest(tools)
    yield* run(tools, key)
    if (tools.hasClock) yield* rest(tools)
  })
}

/** Lets time pass until a moment (epoch ms), if it is ahead. */
export const until = (tools: Tools, moment: number): Effect.Effect<void, Stopped> =>
  Effect.flatMap(tools.now, (now) => tools.advance(moment - now))

/**
 * Lets time pass until the limits of all keys are unused and no ban counts any more, and until any time of a day, as far
 * as the run can wait.
 */
export const rest = (tools: Tools): Effect.Effect<void, Stopped> =>
  tools.hasClock
    ? Effect.flatMap(Random.nextIntBetween(4 * DAY, 5 * DAY), tools.advance)
    : tools.advance(MINUTE_PASSED)

export const isDenied = ({ response }: Exchange): boolean =>
  response?.status === 429 || response?.status === 403

/** Returns the wait in milliseconds that a response tells; `undefined` if it tells none, or more than a month. */
export const toldWait = ({ response, to }: Exchange): number | undefined => {
  if (response === undefined) return undefined
  const seconds = RateHeaders.retryAfterSeconds(response, to, true)
  return seconds === undefined || seconds * SECOND > MAX_WAIT ? undefined : seconds * SECOND
}

/** Returns the time (epoch ms) until which a response tells to wait; `undefined` if it tells none. */
export const toldTime = (exchange: Exchange): number | undefined => {
  const wait = toldWait(exchange)
  return wait === undefined ? undefined : exchange.to + wait
}

/** Returns the Reset of a response in epoch ms. */
export const resetOf = ({ response }: Exchange): number | undefined => {
  const rate = response && RateHeaders.of(response)
  return rate && rate.resetAt * SECOND
}

/** A short list with the main key, whose limits are not used up. */
export const look: Sent = { path: "/pets?limit=1" }
