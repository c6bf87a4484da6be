/** Uses up the limits of small keys with a bounded number of requests, and waits as servers tell. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Plan } from "../../../core/limits/Plan.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Exchange } from "../../model/Exchange.ts"
import { type Program, type Sent, Stopped, type Tools } from "../Program.ts"
import * as Ways from "./Ways.ts"

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** More than a minute, even by a slightly different clock. */
export const MINUTE_PASSED = MINUTE + SECOND

/** The largest limits that scenarios use up again and again, and the largest that some use up once. */
export const MAX_PER_MINUTE = 20
export const MAX_PER_DAY = 200
export const MAX_ONCE = 100

/** The longest wait that a scenario lets pass because a response tells it. */
const MAX_WAIT = 31 * DAY

export type SmallKey = "tiny" | "victim"

interface About extends Omit<Program, "needs" | "run"> {
  readonly key: SmallKey
  /** The largest limits that the scenario can use up. */
  readonly maxPerMinute?: number
  readonly maxPerDay?: number
}

/** Fails unless the plan of a small key is small enough to be used up. */
export const requireSmall = Effect.fnUntraced(function* (
  { plans }: Tools,
  key: SmallKey,
  maxPerMinute: number = MAX_PER_MINUTE,
  maxPerDay: number = Number.POSITIVE_INFINITY
): Effect.fn.Return<Plan, Stopped> {
  const plan = plans[key] ?? { perMinute: Number.POSITIVE_INFINITY, perDay: 0 }
  for (const [limit, max, window] of [
    [plan.perMinute, maxPerMinute, "minute"],
    [plan.perDay, maxPerDay, "day"]
  ] as const) {
    if (limit > max) {
      const reason = `it uses up a ${window} of the ${key} key: give one with at most ${max} requests per ${window}`
      return yield* new Stopped({ reason })
    }
  }
  return plan
})

/** Defines a scenario with a clock about a small key whose limits are unused, before and after. */
export const about = (
  { key, maxPerDay, maxPerMinute, ...fields }: About,
  run: (tools: Tools, plan: Plan) => Effect.Effect<void, Stopped>
): Program => ({
  ...fields,
  needs: [key === "tiny" ? "tinyPlan" : "victimKey", "clock"],
  run: Effect.fnUntraced(function* (tools) {
    const plan = yield* requireSmall(tools, key, maxPerMinute, maxPerDay)
    yield* rest(tools)
    // Not always at the beginning of a second.
    yield* tools.advance(yield* Random.nextIntBetween(0, MINUTE))
    yield* run(tools, plan)
    yield* rest(tools)
  })
})

/** Lets time pass until a moment (epoch ms), if it is ahead. */
export const until = (tools: Tools, moment: number): Effect.Effect<void, Stopped> =>
  Effect.flatMap(tools.now, (now) => (moment > now ? tools.advance(moment - now) : Effect.void))

/** Lets time pass until the limits of all keys are unused, as far as the run can wait. */
export const rest = (tools: Tools): Effect.Effect<void, Stopped> =>
  tools.advance(tools.hasClock ? 2 * DAY : MINUTE_PASSED)

export const isDenied = ({ response }: Exchange): boolean =>
  response?.status === 429 || response?.status === 403

/** Returns the wait in milliseconds that a response tells; `undefined` if it tells none, or more than a month. */
export const toldWait = ({ response, to }: Exchange): number | undefined => {
  if (response === undefined) return undefined
  const seconds = RateHeaders.retryAfterSeconds({ response, receivedAt: to, byClock: true })
  return seconds === undefined || seconds * SECOND > MAX_WAIT ? undefined : seconds * SECOND
}

/** A short list, with a key that is not to be used up. */
export const look = (key: "main" | SmallKey): Sent => ({ path: "/pets?limit=1", key })

export const spend = (
  tools: Tools,
  key: SmallKey,
  way: Ways.Way = Ways.list
): Effect.Effect<Exchange, Stopped> => tools.sendOnce({ ...way.sent(tools), key })

/** Whether a scenario can use up the day of a plan. */
export const hasSmallDay = ({ perDay }: Plan): boolean => perDay <= MAX_PER_DAY

/** Most requests that any algorithm admits at once, and one more. */
export const burst = ({ perMinute }: Plan): number => 2 * perMinute + 1

/** Sends requests in the given ways until one is denied, at most `max`; returns the last exchange. */
export const useUp = Effect.fnUntraced(function* (
  tools: Tools,
  key: SmallKey,
  ways: ReadonlyArray<Ways.Way>,
  max: number,
  beforeEach: (sent: number) => Effect.Effect<void, Stopped> = () => Effect.void
): Effect.fn.Return<Exchange, Stopped> {
  for (let sent = 0; ; sent++) {
    yield* beforeEach(sent)
    const exchange = yield* spend(tools, key, ways[sent % ways.length])
    if (isDenied(exchange) || sent + 1 >= max) return exchange
  }
})

/** Uses up a day of the small key within its minutes; sends at most `max` requests. */
export const useUpDay = (
  tools: Tools,
  { perDay, perMinute }: Plan,
  ways: ReadonlyArray<Ways.Way>,
  max: number = perDay + 1
): Effect.Effect<Exchange, Stopped> =>
  useUp(tools, "tiny", ways, max, (sent) =>
    sent > 0 && sent % perMinute === 0 ? tools.advance(MINUTE_PASSED) : Effect.void
  )

/** Waits where a response tells none, such as during a ban that is not announced. */
const untold = [MINUTE_PASSED, 10 * MINUTE, HOUR, DAY, 7 * DAY]

/** Waits as told until a key is admitted; at most five times, each with one request. */
export const recover = Effect.fnUntraced(function* (
  tools: Tools,
  key: SmallKey,
  denied: Exchange,
  ways: ReadonlyArray<Ways.Way> = [Ways.list]
): Effect.fn.Return<void, Stopped> {
  let last = denied
  for (const [wait, ms] of untold.entries()) {
    if (!isDenied(last)) return
    yield* tools.advance(toldWait(last) ?? ms)
    last = yield* spend(tools, key, ways[wait % ways.length])
  }
})
